#include "replay/run/sampling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "filesets/system/error.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

std::vector<SeriesPoint> series_points(const TimeSeries& series) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const TimeSeries::Interval& one = series[i];
    if (one.operations == 0) continue;
    points.push_back(
        {.t_s = static_cast<double>(i * series.width_ns()) * 1e-9,
         .operations = one.operations,
         .bytes = one.bytes,
         .mean_us = static_cast<double>(one.total_ns) * 1e-3 / static_cast<double>(one.operations),
         .max_us = static_cast<double>(one.max_ns) * 1e-3});
  }
  return points;
}

}  // namespace

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
                               paths.relative(one.path), one.expected, one.result,
                               std::string(divergence_class_name(one.kind_of))});
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

void add_trace_figures(Sample& sample, const ReplayOutcome& outcome) {
  const ReplayStatistics& statistics = outcome.statistics;
  ReelSample& reel = sample.reel.emplace();
  reel.bytes_read = statistics.of(OperationKind::read).bytes;
  reel.bytes_written = statistics.of(OperationKind::write).bytes;
  reel.bytes_copied = statistics.of(OperationKind::copy_range).bytes;
  sample.bytes = reel.bytes_read + reel.bytes_written + reel.bytes_copied;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) {
    if (statistics.by_class[i] == 0) continue;
    const auto name = divergence_class_name(static_cast<DivergenceClass>(i));
    reel.divergences.emplace(std::string(name), statistics.by_class[i]);
  }
  reel.unverified = statistics.unverified;
  reel.refused = statistics.refused;
  if (statistics.lateness.count() > 0) reel.lateness = summarise(statistics.lateness);
  reel.series = series_points(statistics.series);
}

void begin_sample(Sample& sample, const std::vector<Volume*>& volumes, std::uint64_t run_began_ns) {
  look_at_rest(volumes, sample.conditions);
  add_clock_rates(sample.conditions);
  sample.started_s = static_cast<double>(now_ns() - run_began_ns) * 1e-9;
}

void wait_until_durable(Sample& sample, const ReplayOutcome& outcome,
                        const std::vector<Volume*>& volumes) {
  for (Volume* volume : volumes) {
    try {
      volume->sync();
    } catch (const Error&) {
      volume->check_present();  // throws what explains it better, if so
      throw;
    }
  }
  sample.durable_s = outcome.elapsed_s;
  if (volumes.empty()) return;
  sample.durable_s += static_cast<double>(now_ns() - outcome.end_ns) * 1e-9;
}

Outside look_outside(const std::vector<Volume*>& volumes) {
  Outside sum;
  sum.processors = look_at_processors();
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

void add_outside(Sample& sample, const Outside& before, const Outside& after,
                 const std::vector<Volume*>& volumes) {
  // Of a driver that ended in between nothing is known.
  sample.cpu_driver_s = std::max(after.driver_cpu_s - before.driver_cpu_s, 0.0);
  add_processor_shares(before.processors, after.processors, sample.cpu_driver_s, sample.conditions);
  add_clock_rates(sample.conditions);
  if (!volumes.empty()) add_volume_used(*volumes.front(), sample.conditions);
  if (!before.device || !after.device) return;
  sample.device_bytes_read = after.device->read - before.device->read;
  sample.device_bytes_written = after.device->written - before.device->written;
}

}  // namespace filereel
