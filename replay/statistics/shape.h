// Detects bimodal values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace filereel {

struct Modes {
  double low = 0, high = 0;  // medians of the two groups, in the values' unit
  std::size_t in_low = 0;    // number of values in the lower group
};

// The best cut of the sorted values into two groups (as Otsu's threshold, 1979), each with at least
// a fifth of them, if it explains at least 90 % of the variance. Unimodal values rarely pass: fewer
// than one in a hundred series of ten normal values, and no longer series. Returns nothing below 10
// values.
std::optional<Modes> bimodal_modes(std::span<const double> values);

}  // namespace filereel
