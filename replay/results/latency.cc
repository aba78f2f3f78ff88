#include "replay/results/latency.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "replay/results/packed.h"
#include "replay/results/result_members.h"

namespace filereel {
namespace {

std::vector<const LatencySummary*> latencies_of(const Measurement& measurement,
                                                const std::string& kind) {
  std::vector<const LatencySummary*> list;
  for (const Sample& sample : measurement.samples) {
    const auto found = sample.latency.find(kind);
    if (has_failed(sample) || found == sample.latency.end() || found->second.count == 0) continue;
    list.push_back(&found->second);
  }
  return list;
}

}  // namespace

bool is_supported(const Percentile& percentile, double operations) {
  constexpr double kAbove = 10, kRounding = 1e-6;
  return operations * (100 - percentile.percent) / 100 >= kAbove - kRounding;
}

const Percentile* tail_percentile(double operations) {
  for (const std::string_view name : {"p99.9", "p99"}) {
    const auto* one = std::ranges::find(kNamedPercentiles, name, &Percentile::name);
    if (is_supported(*one, operations)) return one;
  }
  return nullptr;
}

LatencySummary summarise(const Histogram& latency) {
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  constexpr std::array kShares = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
  const std::vector<std::uint64_t> at = latency.percentiles(kShares);
  return {.count = latency.count(),
          .p50_us = microseconds(at[0]),
          .p90_us = microseconds(at[1]),
          .p95_us = microseconds(at[2]),
          .p99_us = microseconds(at[3]),
          .p999_us = microseconds(at[4]),
          .p9999_us = microseconds(at[5]),
          .max_us = microseconds(latency.max()),
          .total_us = microseconds(latency.total())};
}

Histogram pooled_histogram(const Measurement& measurement, const std::string& kind) {
  Histogram pooled;
  for (const LatencySummary* latency : latencies_of(measurement, kind)) {
    const Histogram histogram = histogram_of(*latency);
    if (histogram.empty()) return {};
    pooled.merge(histogram);
  }
  return pooled;
}

LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind) {
  return pooled_latency(measurement, kind, pooled_histogram(measurement, kind));
}

LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind,
                              const Histogram& pooled) {
  LatencySummary latency;
  if (!pooled.empty()) {
    latency = summarise(pooled);
  } else {
    for (const auto& percentile : kPercentiles) {
      const std::optional<Spread> spread = measurement.latency(kind, percentile.place);
      if (spread) latency.*percentile.place = spread->median;
    }
  }
  latency.count = 0;
  latency.max_us = latency.total_us = 0;
  for (const LatencySummary* summary : latencies_of(measurement, kind)) {
    latency.count += summary->count;
    latency.errors += summary->errors;
    latency.bytes += summary->bytes;
    latency.total_us += summary->total_us;
    latency.max_us = std::max(latency.max_us, summary->max_us);
  }
  return latency;
}

std::optional<Spread> latency_spread(const Measurement& measurement, const std::string& kind,
                                     double LatencySummary::* percentile) {
  return PooledLatencies(measurement).spread(kind, percentile);
}

std::optional<Spread> PooledLatencies::spread(const std::string& kind,
                                              double LatencySummary::* percentile) {
  const std::optional<Spread> of_samples = measurement_.latency(kind, percentile);
  if (!of_samples) return std::nullopt;
  return Spread{summary(kind).*percentile, of_samples->low, of_samples->high};
}

const PooledLatencies::Pooled& PooledLatencies::of(const std::string& kind) {
  const auto [place, is_new] = by_kind_.try_emplace(kind);
  Pooled& pooled = place->second;
  if (is_new) {
    pooled.histogram = pooled_histogram(measurement_, kind);
    pooled.summary = pooled_latency(measurement_, kind, pooled.histogram);
  }
  return pooled;
}

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
