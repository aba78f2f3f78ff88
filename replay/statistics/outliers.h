// Detects outliers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace filereel {

// The indexes of the values with a modified Z-score 0.6745 (x - median) / MAD beyond ±3.5: Iglewicz
// and Hoaglin, "How to Detect and Handle Outliers" (1993), section 3.5. If more than half of the
// values are equal, MAD is 0, and 1.253314 times the mean deviation from the median replaces MAD /
// 0.6745, so that not every other value is an outlier.
std::vector<std::size_t> outliers(std::span<const double> values);

}  // namespace filereel
