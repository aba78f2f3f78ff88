#include "replay/results/work_checks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/results/failures.h"

namespace filereel {

std::string quoted_name(const Measurement& measurement) {
  const bool by_set = info_of(measurement.kind).by_set;
  const std::string name = by_set ? measurement.operation + " of " + measurement.set
                                  : measurement.workload + ": " + measurement.operation;
  return fmt::format("'{}{}' on {}", printable(name), point_text(measurement.parameters),
                     printable(measurement.file_system));
}

std::string percent_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string cores_text(double cores) {
  return fmt::format("{:.4g} {}", cores, cores == 1 ? "core" : "cores");
}

Throttling throttling_of(const Conditions& conditions) {
  return {.cores = conditions.cpu_quota.value_or(0),
          .periods = conditions.cpu_periods.value_or(0),
          .throttled_periods = conditions.cpu_throttled_periods.value_or(0),
          .throttled_s = conditions.cpu_throttled_s.value_or(0)};
}

std::string quota_wait_text(const Throttling& all, std::string_view whom) {
  return fmt::format("the CPU quota of {} made {} wait in {:.0f} of {:.0f} periods, {} in all",
                     cores_text(all.cores), whom, all.throttled_periods, all.periods,
                     format_duration(all.throttled_s));
}

bool is_throttled(const Conditions& conditions) {
  return throttling_of(conditions).matters();
}

namespace {

struct FailedKind {
  const Measurement* of = nullptr;  // with most calls
  FailedWork work = {};
  std::size_t measurements = 0;
};

void for_each_sample(const Result& result, const std::function<void(const Sample&)>& look) {
  for (const Measurement& measurement : result.measurements)
    std::ranges::for_each(measurement.samples, look);
}

void check_calls(Result& result) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, FailedKind> failures;
  for (const Measurement& measurement : result.measurements) {
    for (FailedWork& work : failed_work_of(measurement)) {
      const FailedCalls& calls = work.calls;
      FailedKind& failure =
          failures[{measurement.file_system, calls.volume, calls.operation, calls.error}];
      ++failure.measurements;
      if (failure.of && failure.work.calls.count >= calls.count) continue;
      failure.of = &measurement;
      failure.work = std::move(work);
    }
  }
  for (const auto& [key, one] : failures) {
    result.warn(
        {"calls-failed",
         fmt::format(
             "{} ({}{})", describe_failed_work(one.work, result, *one.of), quoted_name(*one.of),
             one.measurements < 2 ? "" : fmt::format(", and {} more", one.measurements - 1)),
         fmt::format("the measurement has no rank and no prediction; {}",
                     failed_work_advice(one.work.calls.error))});
  }
}

void check_throttling(Result& result) {
  std::size_t looks = 0, throttled = 0;
  Throttling all;
  for_each_sample(result, [&](const Sample& sample) {
    const Conditions& conditions = sample.conditions;
    if (!conditions.cpu_periods || !conditions.cpu_throttled_periods) return;
    ++looks;
    all.add(throttling_of(conditions));
    if (is_throttled(conditions)) ++throttled;
  });
  if (throttled == 0) return;
  result.warn({"cpu-throttled",
               fmt::format("{} ({})", quota_wait_text(all, "filereel"),
                           counted_of(throttled, looks, "sample")),
               "raise the quota of the container or service (CPUQuota=, cpu.max or "
               "cpu.cfs_quota_us), or measure "
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
       "do not stop filereel while it measures; more runs take their place where that is "
       "possible"});
}

// Of replays and workloads with --warm: files that are read from the device were not in the caches.
void check_warmth(Result& result) {
  constexpr double kLeastBytes = 1e6, kShare = 0.02;
  if (result.plan.jobs.empty() || !std::ranges::all_of(result.plan.jobs, &JobRecord::warm)) return;
  std::size_t looks = 0, cold = 0;
  for_each_sample(result, [&](const Sample& sample) {
    if (sample.cold_method != "warm" || !sample.device_bytes_read) return;
    ++looks;
    const double least = std::max(kLeastBytes, kShare * static_cast<double>(sample.bytes));
    if (static_cast<double>(*sample.device_bytes_read) > least) ++cold;
  });
  if (cold == 0) return;
  result.warn({"not-warm",
               fmt::format("the caches were not warm in {}: the device was read",
                           counted_of(cold, looks, "step")),
               "use files that fit in memory, and a drive that nothing else reads"});
}

// Of phases that end by time. A run that did more operations has more weight in percentiles of all.
void check_weights(Result& result) {
  constexpr std::uint64_t kRatio = 2;
  std::size_t looks = 0, count = 0;
  const Measurement* worst = nullptr;
  std::pair<std::uint64_t, std::uint64_t> range = {1, 1};
  for (const Measurement& measurement : result.measurements) {
    std::vector<std::uint64_t> operations;
    for (const Sample& sample : measurement.samples) {
      if (!has_failed(sample) && sample.operations > 0) operations.push_back(sample.operations);
    }
    if (measurement.ends != PhaseEnd::time || operations.size() < 2) continue;
    ++looks;
    const auto [least, most] = std::ranges::minmax(operations);
    if (most < kRatio * least) continue;
    ++count;
    if (worst && most * range.first <= range.second * least) continue;
    worst = &measurement;
    range = {least, most};
  }
  if (!worst) return;
  result.warn(
      {"runs-unequal",
       fmt::format(
           "the runs of {} did {} to {} operations in their time, and percentiles of all "
           "are mostly those of the fast runs{}",
           quoted_name(*worst), range.first, range.second,
           count < 2 ? "" : fmt::format(" ({})", counted_of(count, looks, "time-limited phase"))),
       "judge tails with filereel compare, which takes the median of the runs; let the drive and "
       "the machine settle"});
}

// Syncs and copies move much data in a single call.
bool may_last(std::string_view kind) {
  static constexpr auto kLong = std::to_array<std::string_view>(
      {"close", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync", "copy_range"});
  return contains(kLong, kind);
}

void check_shares(Result& result) {
  constexpr double kLeast_us = 5e6;
  const bool any = std::ranges::any_of(
      result.volumes, [](const VolumeDescription& volume) { return volume.network.has_value(); });
  if (!any) return;
  std::size_t count = 0;
  const Measurement* worst = nullptr;
  std::string kind;
  double longest_us = kLeast_us;
  for (const Measurement& measurement : result.measurements) {
    bool is_slow = false;
    for (const Sample& sample : measurement.samples) {
      const auto& latencies = sample.service.empty() ? sample.latency : sample.service;
      for (const auto& [name, latency] : latencies) {
        if (may_last(name)) continue;
        is_slow = is_slow || latency.max_us >= kLeast_us;
        if (latency.max_us < longest_us) continue;
        longest_us = latency.max_us;
        worst = &measurement;
        kind = name;
      }
    }
    count += is_slow ? 1 : 0;
  }
  if (!worst) return;
  result.warn({"share-slow",
               fmt::format("{} of {} took {}{}: the share may not have responded", kind,
                           quoted_name(*worst), format_duration(longest_us * 1e-6),
                           count < 2 ? "" : fmt::format(", and others in {} more", count - 1)),
               "check server and network, and measure again"});
}

}  // namespace

void check_work(Result& result) {
  check_warmth(result);
  check_calls(result);
  check_throttling(result);
  check_stops(result);
  check_weights(result);
  check_shares(result);
}

}  // namespace filereel
