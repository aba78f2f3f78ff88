// Latencies of a measurement: those of all samples together.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

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

// Whether ten of so many operations lie above the percentile: of fewer it is a matter of chance.
bool is_supported(const Percentile& percentile, double operations);
// What stands for the tail of so many operations: p99.9, else p99; null where neither is supported.
const Percentile* tail_percentile(double operations);

// Count and percentiles; errors and bytes are 0, the texts empty.
LatencySummary summarise(const Histogram& latency);

// All latencies of one kind of operation, of the samples that did not fail. Empty where there are
// none, and where any of these samples has no histogram (before schema version 4).
Histogram pooled_histogram(const Measurement& measurement, const std::string& kind);

// One kind of operation in all samples that did not fail; the count is 0 where there is none. The
// percentiles are those of the pooled histogram, without one the medians of the samples'
// percentiles. The maximum is that of all samples in any case, and so are the sums.
LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind);
// The same where pooled_histogram is at hand.
LatencySummary pooled_latency(const Measurement& measurement, const std::string& kind,
                              const Histogram& pooled);

// A percentile of pooled_latency, as the middle, with the lowest and the highest of the samples;
// nothing where there is none.
std::optional<Spread> latency_spread(const Measurement& measurement, const std::string& kind,
                                     double LatencySummary::* percentile);

}  // namespace filereel
