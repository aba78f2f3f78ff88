#include "replay/runner/sampling.h"

#include <string>

namespace filereel {

LatencySummary summarise(const Histogram& latency) {
  constexpr double kMicro = 1e-3;
  const auto at = [&](double share) {
    return static_cast<double>(latency.percentile(share)) * kMicro;
  };
  return {.count = latency.count(),
          .p50_us = at(0.5),
          .p90_us = at(0.9),
          .p95_us = at(0.95),
          .p99_us = at(0.99),
          .p999_us = at(0.999),
          .p9999_us = at(0.9999),
          .max_us = static_cast<double>(latency.max()) * kMicro,
          .total_us = static_cast<double>(latency.total()) * kMicro};
}

void fill_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths) {
  const ReplayStatistics& statistics = outcome.statistics;
  sample.elapsed_s = outcome.elapsed_s;
  sample.cpu_user_s = outcome.cpu_user_s;
  sample.cpu_system_s = outcome.cpu_system_s;
  sample.bytes = statistics.published().bytes;
  sample.files = statistics.files;
  sample.operations = statistics.operations;
  sample.divergences = statistics.divergences;
  for (const Divergence& one : statistics.examples) {
    sample.examples.push_back({one.position, one.thread, std::string(operation_info(one.kind).name),
                               paths.relative(one.path), one.expected, one.result});
  }
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const KindStatistics& kind = statistics.kinds[i];
    if (kind.latency.count() == 0) continue;
    const auto name = operation_info(static_cast<OperationKind>(i)).name;
    LatencySummary summary = summarise(kind.latency);
    summary.errors = kind.errors;
    summary.bytes = kind.bytes;
    sample.latency.emplace(std::string(name), summary);
  }
}

Outside look_outside(const std::vector<Volume*>& volumes) {
  Outside sum;
  for (const Volume* volume : volumes) {
    sum.driver_cpu_s += volume->driver_cpu_s();
    const std::optional<DeviceCounters> counters = volume->counters();
    if (!counters || (sum.device && sum.device->device == counters->device)) continue;
    const DeviceCounters before = sum.device.value_or(DeviceCounters{});
    sum.device = DeviceCounters{before.read + counters->read, before.written + counters->written,
                                counters->device};
  }
  return sum;
}

void add_outside(Sample& sample, const Outside& before, const Outside& after) {
  sample.cpu_driver_s = after.driver_cpu_s - before.driver_cpu_s;
  if (!before.device || !after.device) return;
  sample.device_bytes_read = after.device->read - before.device->read;
  sample.device_bytes_written = after.device->written - before.device->written;
}

}  // namespace filereel
