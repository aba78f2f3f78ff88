// Latencies of a measurement: those of all samples together.
#pragma once

#include <optional>
#include <string>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

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
