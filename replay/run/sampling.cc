#include "replay/run/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "filesets/system/error.h"
#include "replay/measure/clock.h"
#include "replay/results/latency.h"
#include "replay/results/packed.h"
#include "replay/volumes/processes.h"
#include "traces/export/dump.h"

namespace filereel {
namespace {

double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

// Latencies by size class, for those that occur.
std::vector<SizeLatency> sizes_of(const KindStatistics& kind) {
  std::vector<SizeLatency> sizes;
  for (std::size_t size = 0; size < kSizeClasses; ++size) {
    const Histogram& histogram = kind.by_size[size];
    if (histogram.empty()) continue;
    sizes.push_back({.up_to = most_of_class(size),
                     .max_us = microseconds(histogram.max()),
                     .total_us = microseconds(histogram.total()),
                     .histogram = pack_histogram(histogram)});
  }
  return sizes;
}

LatencySummary summarise(const KindStatistics& kind) {
  const Histogram all = kind.latency();
  LatencySummary summary = summarise(all);
  summary.errors = kind.errors;
  summary.bytes = kind.bytes;
  summary.sizes = sizes_of(kind);
  if (summary.sizes.size() > 1) return summary;
  summary.sizes.clear();
  summary.histogram = pack_histogram(all);
  return summary;
}

std::vector<SlowRecord> slowest_of(const ReplayStatistics& statistics, const PathTable& paths) {
  std::vector<SlowRecord> list;
  for (const SlowOperation& operation : statistics.slowest.operations()) {
    // An operation that began in the warm-up may end after it.
    const std::uint64_t begin =
        std::max(operation.end_ns - operation.latency_ns, statistics.begin_ns);
    const OperationInfo& info = operation_info(operation.kind);
    list.push_back({.operation = std::string(info.name),
                    .path = paths.relative(operation.path),
                    .offset = operation.offset,
                    .length = operation.length,
                    .thread = operation.thread,
                    .at_s = std::round(microseconds(begin - statistics.begin_ns)) / 1e6,
                    .latency_us = microseconds(operation.latency_ns),
                    .position = operation.position});
    if (operation.service_ns != operation.latency_ns) {
      list.back().service_us = microseconds(operation.service_ns);
    }
  }
  std::ranges::stable_sort(list, std::greater{}, &SlowRecord::latency_us);
  return list;
}

void add_failed_calls(const ReplayOutcome& outcome, std::optional<Role> role, Sample& sample) {
  for (const FailureCount& failure : outcome.statistics.failures) {
    const std::string error =
        failure.error == 0 ? std::string(FailedCalls::kCutShort) : errno_name(failure.error);
    sample.failed_calls.push_back({std::string(role_name(role.value_or(failure.role))),
                                   std::string(operation_info(failure.kind).name), error,
                                   failure.count});
  }
}

// Of threads that work on one volume each, the volume is that of the thread.
void add_failed_calls(const ReplayOutcome& outcome, Sample& sample) {
  if (outcome.by_volume.empty()) return add_failed_calls(outcome, std::nullopt, sample);
  for (std::size_t role = 0; role < outcome.by_volume.size(); ++role) {
    add_failed_calls(outcome.by_volume[role], static_cast<Role>(role), sample);
  }
}

}  // namespace

void fill_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths) {
  const ReplayStatistics& statistics = outcome.statistics;
  sample.elapsed_s = outcome.elapsed_s;
  sample.cpu_user_s = outcome.cpu_user_s;
  sample.cpu_system_s = outcome.cpu_system_s;
  sample.bytes = statistics.bytes;
  sample.files = statistics.files;
  sample.operations = statistics.operations;
  sample.lookup_s = static_cast<double>(statistics.lookup_ns) * 1e-9;
  sample.divergences = statistics.divergences;
  for (const Divergence& example : statistics.examples) {
    sample.examples.push_back({example.position, example.thread,
                               std::string(operation_info(example.kind).name),
                               paths.relative(example.path), example.expected, example.result,
                               std::string(divergence_class_name(example.divergence_class))});
  }
  add_failed_calls(outcome, sample);
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const KindStatistics& kind = statistics.kinds[i];
    if (kind.count() == 0) continue;
    const std::string name(operation_info(static_cast<OperationKind>(i)).name);
    sample.latency.emplace(name, summarise(kind));
    if (!kind.service.empty()) sample.service.emplace(name, summarise_with_histogram(kind.service));
  }
  sample.slowest = slowest_of(statistics, paths);
  sample.course = pack_course(statistics.grid);
}

void begin_sample(Sample& sample, const std::vector<Volume*>& volumes, std::uint64_t run_began_ns) {
  measure_idle_traffic(volumes, sample.conditions);
  add_clock_rates(sample.conditions);
  sample.started_s = static_cast<double>(now_ns() - run_began_ns) * 1e-9;
}

std::vector<double> wait_until_durable(Sample& sample, const ReplayOutcome& outcome,
                                       const std::vector<Volume*>& volumes) {
  const auto flush = [](Volume& volume) {
    const std::uint64_t begin = now_ns();
    try {
      volume.sync();
    } catch (const Error&) {
      volume.check_present();  // throws an error that explains it better
      throw;
    }
    return static_cast<double>(now_ns() - begin) * 1e-9;
  };
  std::vector<std::future<double>> others;
  for (std::size_t i = 1; i < volumes.size(); ++i) {
    others.push_back(std::async(std::launch::async, flush, std::ref(*volumes[i])));
  }
  std::vector<double> seconds;
  if (!volumes.empty()) seconds.push_back(flush(*volumes.front()));
  for (std::future<double>& other : others) seconds.push_back(other.get());
  sample.durable_s = outcome.elapsed_s;
  if (volumes.empty()) return seconds;
  sample.durable_s += static_cast<double>(now_ns() - outcome.end_ns) * 1e-9;
  return seconds;
}

SystemCounters read_system_counters(const std::vector<Volume*>& volumes) {
  SystemCounters sum;
  sum.processors = read_processor_times();
  std::set<dev_t> seen;
  std::set<pid_t> drivers;
  for (const Volume* volume : volumes) {
    const std::optional<pid_t> driver = volume->driver();
    if (driver && drivers.insert(*driver).second) sum.driver_cpu_s += process_cpu_s(*driver);
    const std::optional<DeviceCounters> counters = volume->counters();
    if (!counters || !seen.insert(counters->device).second) continue;
    const DeviceCounters before = sum.device.value_or(DeviceCounters{});
    sum.device = DeviceCounters{before.read + counters->read, before.written + counters->written,
                                counters->device};
  }
  return sum;
}

void add_volume_work(Sample& sample, const SystemCounters& before, const SystemCounters& after,
                     const std::vector<Volume*>& volumes) {
  // The time of a driver that ended in between is unknown.
  sample.cpu_driver_s = std::max(after.driver_cpu_s - before.driver_cpu_s, 0.0);
  if (!volumes.empty()) add_volume_used(*volumes.front(), sample.conditions);
  if (!before.device || !after.device) return;
  sample.device_bytes_read = after.device->read - before.device->read;
  sample.device_bytes_written = after.device->written - before.device->written;
}

void add_system_counters(Sample& sample, const SystemCounters& before, const SystemCounters& after,
                         const std::vector<Volume*>& volumes) {
  add_volume_work(sample, before, after, volumes);
  add_processor_shares(before.processors, after.processors, sample.cpu_driver_s, sample.conditions);
  add_clock_rates(sample.conditions);
}

}  // namespace filereel
