#include "replay/results/work_checks.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/units.h"
#include "replay/results/check_texts.h"
#include "replay/results/failures.h"

namespace filereel {
namespace {

struct FailedKind {
  const Measurement* of = nullptr;  // with most calls
  FailedWork work = {};
  std::size_t measurements = 0;
};

void for_each_sample(const Result& result, const std::function<void(const Sample&)>& look) {
  for (const Measurement& one : result.measurements) std::ranges::for_each(one.samples, look);
}

void check_calls(Result& result) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, FailedKind> failures;
  for (const Measurement& one : result.measurements) {
    for (FailedWork& work : failed_work_of(one)) {
      const FailedCalls& calls = work.calls;
      FailedKind& failure = failures[{one.file_system, calls.volume, calls.operation, calls.error}];
      ++failure.measurements;
      if (failure.of && failure.work.calls.count >= calls.count) continue;
      failure.of = &one;
      failure.work = std::move(work);
    }
  }
  for (const auto& [key, one] : failures) {
    result.warn(
        {"calls-failed",
         fmt::format(
             "{} ({}{})", describe_failed_work(one.work, result, *one.of), quoted_name(*one.of),
             one.measurements < 2 ? "" : fmt::format(", and {} more", one.measurements - 1)),
         "the measurement has no rank and no prediction; use a volume that can do the work"});
  }
}

void check_throttling(Result& result) {
  std::size_t looks = 0, throttled = 0;
  double periods = 0, waited = 0, seconds = 0, quota = 0;
  for_each_sample(result, [&](const Sample& sample) {
    const Conditions& one = sample.conditions;
    if (!one.cpu_periods || !one.cpu_throttled_periods) return;
    ++looks;
    periods += *one.cpu_periods;
    waited += *one.cpu_throttled_periods;
    seconds += one.cpu_throttled_s.value_or(0);
    quota = one.cpu_quota.value_or(0);
    if (is_throttled(one)) ++throttled;
  });
  if (throttled == 0) return;
  result.warn({"cpu-throttled",
               fmt::format("the CPU quota of {} made filereel wait in {:.0f} of {:.0f} periods, "
                           "{} in all ({})",
                           cores_text(quota), waited, periods, format_duration(seconds),
                           counted_of(throttled, looks, "sample")),
               "raise the quota of the container or service (cpu.max, CPUQuota=), or measure "
               "without it"});
}

void check_stops(Result& result) {
  std::size_t looks = 0, stopped = 0;
  for_each_sample(result, [&](const Sample& sample) {
    ++looks;
    if (sample.conditions.stops.value_or(0) > 0) ++stopped;
  });
  if (stopped == 0) return;
  result.warn(
      {"run-stopped",
       fmt::format("{} {} not used: filereel was stopped (Ctrl-Z, SIGSTOP) or frozen (docker "
                   "pause), or the machine suspended, meanwhile",
                   counted_of(stopped, looks, "sample"), agreeing(stopped, "is", "are")),
       "repeat the run without an interruption"});
}

}  // namespace

void check_work(Result& result) {
  check_calls(result);
  check_throttling(result);
  check_stops(result);
}

}  // namespace filereel
