#include "replay/run/resumption.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

// Results do not keep the order of axes.
Parameters in_order(Parameters parameters) {
  std::ranges::sort(parameters);
  return parameters;
}

bool is_of_job(const StagedJob& staged, const Measurement& measurement) {
  const bool is_here =
      !staged.kind || measurement.file_system == file_system_info(*staged.kind).name;
  const JobRecord record = staged.job->record();
  return is_here && measurement.kind == record.kind && measurement.workload == record.name &&
         measurement.set == staged.job->set();
}

// The job's measurements at a point, in their order.
std::vector<const Measurement*> measurements_at(const StagedJob& staged, std::uint64_t point,
                                                const Result& result) {
  const Parameters wanted = in_order(staged.job->parameters(point));
  std::vector<const Measurement*> found;
  for (const Measurement& one : result.measurements) {
    if (is_of_job(staged, one) && in_order(one.parameters) == wanted) found.push_back(&one);
  }
  return found;
}

// The repetitions that are complete at a point. A measurement without samples is one of a step that
// was skipped if others have several; with one, the point may have been interrupted.
std::uint32_t repetitions_at(const StagedJob& staged, std::uint64_t point, const Result& result) {
  std::size_t least = kMostRuns, most = 0;
  bool has_empty = false;
  for (const Measurement* one : measurements_at(staged, point, result)) {
    const std::size_t count = one->samples.size();
    most = std::max(most, count);
    if (count > 0) least = std::min(least, count);
    has_empty = has_empty || count == 0;
  }
  if (most == 0 || (has_empty && most < 2)) return 0;
  return static_cast<std::uint32_t>(least);
}

std::uint32_t repetitions_of(const StagedJob& staged, const Result& result) {
  std::uint32_t least = kMostRuns;
  for (std::uint64_t point = 0; point < staged.job->points(); ++point) {
    least = std::min(least, repetitions_at(staged, point, result));
  }
  return least;
}

bool has_samples_of(const StagedJob& staged, const Result& result) {
  return std::ranges::any_of(result.measurements, [&](const Measurement& one) {
    return !one.samples.empty() && is_of_job(staged, one);
  });
}

bool keeps_state(const Job& job) {
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    if (job.options(point).condition.keeps_state()) return true;
  }
  return false;
}

// Samples of two machines, kernels or sets of file systems are no session.
void require_same(const Result& before, const Result& now) {
  const auto require = [](std::string_view what, std::string_view then, std::string_view today) {
    if (then.empty() || today.empty() || then == today) return;
    throw Error(ErrorKind::usage,
                fmt::format("cannot resume the run: {} was {}, and is {} now; repeat the run", what,
                            printable(then), printable(today)));
  };
  require("the processor", before.host.cpu, now.host.cpu);
  require("the kernel", before.host.kernel, now.host.kernel);
  require("the build of the kernel", before.host.kernel_build, now.host.kernel_build);
  require("the microcode", before.host.microcode, now.host.microcode);
  require("the list of file systems", fmt::format("{}", fmt::join(before.plan.file_systems, ",")),
          fmt::format("{}", fmt::join(now.plan.file_systems, ",")));
}

void take_over_rest(const Result& before, Result& now) {
  std::size_t samples = 0;
  for (const Measurement& one : before.measurements) samples += one.samples.size();
  now.started = before.started;
  now.session = before.session;
  now.volumes = before.volumes;
  now.escaped_names = before.escaped_names;
  for (const Warning& warning : before.warnings) now.warn(warning);
  now.warn({"run-resumed",
            fmt::format("interrupted with {}, and resumed at {:%Y-%m-%dT%H:%M:%SZ}",
                        counted(samples, "sample"), fmt::gmtime(time(nullptr))),
            "the state of machine and drive may differ before and after; repeat the run if small "
            "differences matter"});
}

// What came of a purge is known only afterwards.
void take_over_purge(const std::string& job, const Result& before, Result& now) {
  const auto purge_in = [&](auto& result) {
    auto* const record = find_or_null(result.plan.jobs, job, &JobRecord::name);
    return record ? find_or_null(record->settings, "purge", &Parameters::value_type::first)
                  : nullptr;
  };
  const auto* const then = purge_in(before);
  if (auto* const today = purge_in(now); then && today) today->second = then->second;
}

}  // namespace

Resumption::Resumption(const Stage& stage, const std::vector<const Result*>& begun)
    : stage_(stage), begun_(begun) {
  if (begun_.empty()) return;
  for (std::size_t i = 0; i < stage_.sides.size(); ++i) {
    require_same(*begun_[i], *stage_.sides[i].result);
  }
  for (std::size_t i = 0; i < stage_.sides.size(); ++i) {
    take_over_rest(*begun_[i], *stage_.sides[i].result);
  }
}

JobProgress Resumption::progress_of(std::size_t job) const {
  const StagedJob& staged = stage_.jobs[job];
  std::uint32_t least = kMostRuns;
  bool later_begun = false;
  for (const Result* before : begun_) {
    least = std::min(least, repetitions_of(staged, *before));
    for (std::size_t later = job + 1; later < stage_.jobs.size(); ++later) {
      later_begun = later_begun || has_samples_of(stage_.jobs[later], *before);
    }
  }
  if (least > 0 && later_begun) return {.complete = true};
  return {.repetitions = keeps_state(*staged.job) ? 0 : least};
}

JobProgress Resumption::take_over(std::size_t job) const {
  if (begun_.empty()) return {};
  const StagedJob& staged = stage_.jobs[job];
  const JobProgress progress = progress_of(job);
  if (!progress.complete && progress.repetitions == 0) return progress;
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    Result& now = *stage_.sides[i].result;
    take_over_purge(staged.job->record().name, *begun_[i], now);
    for (std::uint64_t point = 0; point < staged.job->points(); ++point) {
      for (const Measurement* one : measurements_at(staged, point, *begun_[i])) {
        Measurement& taken = now.measurements.emplace_back(*one);
        taken.parameters = staged.job->parameters(point);
        if (!progress.complete) {
          taken.samples.resize(std::min<std::size_t>(taken.samples.size(), progress.repetitions));
          taken.runs_ended.clear();
        }
        now.plan.runs = std::max(now.plan.runs, static_cast<std::uint32_t>(taken.samples.size()));
      }
    }
  }
  return progress;
}

std::vector<std::size_t> first_measurements(const StagedJob& staged, const Result& result) {
  std::vector<std::size_t> first;
  for (std::uint64_t point = 0; point < staged.job->points(); ++point) {
    const std::vector<const Measurement*> found = measurements_at(staged, point, result);
    if (found.empty()) return {};
    first.push_back(static_cast<std::size_t>(found.front() - result.measurements.data()));
  }
  return first;
}

void check_resumed(const Result& result, std::size_t first, std::span<const Measurement> expected) {
  const auto same = [](const Measurement& one, const Measurement& other) {
    return one.operation == other.operation && one.driver == other.driver &&
           in_order(one.parameters) == in_order(other.parameters);
  };
  const auto of_point = std::span(result.measurements).subspan(first);
  bool fits = of_point.size() >= expected.size() &&
              std::ranges::equal(of_point.first(expected.size()), expected, same);
  if (fits && of_point.size() > expected.size()) {
    const Measurement& next = of_point[expected.size()];
    fits = in_order(next.parameters) != in_order(expected.front().parameters) ||
           next.workload != expected.front().workload || next.set != expected.front().set;
  }
  if (fits) return;
  throw Error(ErrorKind::unusable_input,
              fmt::format("the interrupted result has other measurements of {} than this run; "
                          "repeat the run",
                          printable(expected.front().workload)));
}

}  // namespace filereel
