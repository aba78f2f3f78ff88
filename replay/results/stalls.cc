#include "replay/results/stalls.h"

#include <algorithm>
#include <set>
#include <string>

#include "replay/results/latency.h"

namespace filereel {

std::uint64_t stall_threshold(const Histogram& usual) {
  constexpr std::uint64_t kOfP999 = 3, kOfP99 = 10;
  const std::uint64_t unusual =
      std::min(kOfP999 * usual.percentile(0.999), kOfP99 * usual.percentile(0.99));
  return std::max(unusual, kLeastStallNs);
}

Stalls stalls_above(const Histogram& latencies, std::uint64_t threshold) {
  return {latencies.count_above(threshold), latencies.total_above(threshold) * 1e-9};
}

std::optional<MeasurementStalls> measurement_stalls(const Measurement& measurement) {
  std::set<std::string> kinds;
  for (const Sample& sample : measurement.samples) {
    for (const auto& [kind, latency] : sample.latency) kinds.insert(kind);
  }
  MeasurementStalls own;
  own.threshold_ns = UINT64_MAX;
  double operations = 0, seconds = 0;
  for (const std::string& kind : kinds) {
    const Histogram latencies = pooled_histogram(measurement, kind);
    const std::uint64_t threshold = stall_threshold(latencies);
    const Stalls some = stalls_above(latencies, threshold);
    if (some.count > 0) own.threshold_ns = std::min(own.threshold_ns, threshold);
    own.stalls += some;
    operations += static_cast<double>(latencies.count());
    seconds += static_cast<double>(latencies.total()) * 1e-9;
  }
  if (own.stalls.count == 0) return std::nullopt;
  own.share_of_operations = static_cast<double>(own.stalls.count) / operations;
  own.share_of_time = std::min(1.0, own.stalls.seconds / seconds);
  return own;
}

}  // namespace filereel
