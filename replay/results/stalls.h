// Stalls: operations that take far longer than is usual for their kind.
#pragma once

#include <cstdint>
#include <optional>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

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
