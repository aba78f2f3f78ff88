// Latencies of samples: summaries, percentiles and stalls.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

// --- Latencies of a measurement, pooled over all samples.

struct Percentile {
  std::string_view name;  // "p99.9"
  double percent = 0;
  double LatencySummary::* figure = nullptr;
};
inline constexpr std::array<Percentile, 6> kNamedPercentiles = {{
    {"p50", 50, &LatencySummary::p50_us},
    {"p90", 90, &LatencySummary::p90_us},
    {"p95", 95, &LatencySummary::p95_us},
    {"p99", 99, &LatencySummary::p99_us},
    {"p99.9", 99.9, &LatencySummary::p999_us},
    {"p99.99", 99.99, &LatencySummary::p9999_us},
}};

// Whether at least ten of `operations` are above the percentile. With fewer, the percentile is down
// to chance.
bool is_supported(const Percentile& percentile, double operations);
// The percentile used as the tail of `operations`: p99.9, otherwise p99; null if neither is
// supported.
const Percentile* tail_percentile(double operations);

// Count and percentiles; errors and bytes are 0, texts are empty.
LatencySummary summarise(const Histogram& latency);

// All latencies of one kind of operation, from the samples that did not fail. Empty if there are
// none, or if any of these samples has no histogram (before schema version 4).
Histogram pooled_histogram(const Measurement& measurement, const std::string& kind);

// One kind of operation over all samples that did not fail; the count is 0 if there is none.
// Percentiles come from the pooled histogram, otherwise they are the medians of the samples'
// percentiles. Maximum and sums are always those of all samples.
LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind);
// The same with a given pooled_histogram.
LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind,
                              const Histogram& pooled);

// pooled_histogram and pooled_latency of a measurement, calculated once for each kind.
class PooledLatencies {
 public:
  explicit PooledLatencies(const Measurement& measurement) : measurement_(measurement) {}

  const Histogram& histogram(const std::string& kind) { return of(kind).histogram; }
  const LatencySummary& summary(const std::string& kind) { return of(kind).summary; }
  // See latency_spread.
  std::optional<Spread> spread(const std::string& kind, double LatencySummary::* percentile);

 private:
  struct Pooled {
    Histogram histogram;
    LatencySummary summary;
  };
  const Pooled& of(const std::string& kind);

  const Measurement& measurement_;
  std::map<std::string, Pooled> by_kind_;
};

// A percentile of pooled_latency as the median, with the lowest and highest of the samples. Empty
// if there is none.
std::optional<Spread> latency_spread(const Measurement& measurement, const std::string& kind,
                                     double LatencySummary::* percentile);

// --- Stalls: operations that take far longer than is usual for their kind.

// An operation that takes longer than this is a stall, in nanoseconds. `usual` has the latencies of
// the kind of operation in the base. The threshold is 3 times their 99.9th percentile, or 10 times
// their 99th if that is less. So a base in which up to one operation in a hundred stalls does not
// hide them. It is at least 10 ms: people do not notice shorter waits, and a thread waits that long
// for a CPU. docs/compare.md explains how the factors were chosen.
std::uint64_t stall_threshold(const Histogram& usual);

inline constexpr std::uint64_t kLeastStallNs = 10'000'000;

struct Stalls {
  std::uint64_t count = 0;
  double seconds = 0;  // total duration, to 0.4 %

  Stalls& operator+=(const Stalls& other) {
    count += other.count;
    seconds += other.seconds;
    return *this;
  }
};

// The latencies above a threshold in nanoseconds.
Stalls stalls_above(const Histogram& latencies, std::uint64_t threshold);

// The stalls of a measurement, relative to its own latencies.
struct MeasurementStalls {
  Stalls stalls;
  std::uint64_t threshold_ns = 0;  // the smallest threshold of a kind that stalled
  double share_of_operations = 0, share_of_time = 0;  // 0 to 1; time is that in calls
};

// Over all samples that did not fail; empty if nothing stalled or there are no histograms.
std::optional<MeasurementStalls> measurement_stalls(const Measurement& measurement);

}  // namespace filereel
