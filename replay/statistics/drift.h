// Detects a trend in a series.
#pragma once

#include <optional>
#include <span>

namespace filereel {

struct Drift {
  double p = 1;       // two-sided, of no trend
  double change = 1;  // median of the last third divided by that of the first
};

// The Mann-Kendall trend test (Mann 1945, Kendall 1975) for values above 0 in measurement order. p
// is exact up to 30 values without ties; otherwise from the normal approximation with corrections
// for ties and continuity. Returns nothing below 6 values, because no order of so few is rare
// enough.
std::optional<Drift> drift_of(std::span<const double> series);

}  // namespace filereel
