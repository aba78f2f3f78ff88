// Stalls: operations that take far longer than is usual for their kind.
#pragma once

#include <cstdint>
#include <optional>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

// An operation is a stall if it takes longer than this, in nanoseconds. `usual` has the latencies
// of the kind of operation in the base. The threshold is 3 times its 99.9th percentile, or 10 times
// its 99th if that is less: so that a base in which up to one operation in a hundred stalls does
// not hide them. It is never below 10 ms: what is shorter goes by unnoticed where people wait, and
// a thread that waits for a processor takes as long. docs/compare.md tells how the factors were
// chosen.
std::uint64_t stall_threshold(const Histogram& usual);

inline constexpr std::uint64_t kLeastStallNs = 10'000'000;

struct Stalls {
  std::uint64_t count = 0;
  double seconds = 0;  // that they took, to 0.4 %

  Stalls& operator+=(const Stalls& other) {
    count += other.count;
    seconds += other.seconds;
    return *this;
  }
};

// Of latencies above a threshold in nanoseconds.
Stalls stalls_above(const Histogram& latencies, std::uint64_t threshold);

// The stalls of a measurement, held against its own latencies.
struct OwnStalls {
  Stalls stalls;
  std::uint64_t threshold_ns = 0;  // the smallest of those of the kinds that stalled
  double share_of_operations = 0, share_of_time = 0;  // 0 to 1; of the time in calls
};

// Of all samples that did not fail; nothing where nothing stalled or there are no histograms.
std::optional<OwnStalls> own_stalls(const Measurement& measurement);

}  // namespace filereel
