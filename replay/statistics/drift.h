// Whether a series goes somewhere.
#pragma once

#include <optional>
#include <span>

namespace filereel {

struct Drift {
  double p = 1;       // two-sided, of no trend
  double change = 1;  // median of the last third by that of the first
};

// The Mann-Kendall test of a trend (Mann 1945, Kendall 1975) for values above 0 in the order in
// which they were measured: p is exact up to 30 values without ties, else from the normal
// approximation with corrections for ties and continuity. Nothing below 6 values, of which no order
// is rare enough to mean much.
std::optional<Drift> drift_of(std::span<const double> series);

}  // namespace filereel
