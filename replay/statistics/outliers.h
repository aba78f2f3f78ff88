// Values that do not belong to the rest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace filereel {

// The indexes of the values whose modified Z-score 0.6745 (x - median) / MAD is beyond 3.5 either
// way: Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), section 3.5. Where more
// than half of the values are equal MAD is 0, and 1.253314 times the mean distance from the median
// stands for MAD / 0.6745, so that the equal ones are not all that counts.
std::vector<std::size_t> outliers(std::span<const double> values);

}  // namespace filereel
