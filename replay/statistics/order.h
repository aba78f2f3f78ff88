// Single figures that stand for several values, most by their order. All functions take values in any order, finite, in any
// unit, and give their figure in the same unit.
#pragma once

#include <span>

namespace filereel {

// The middle value, or the mean of the two in the middle. At least one value is required.
double median(std::span<const double> values);

// The value below which the share `p` (0 to 1) lies, linear between neighbours: type 7 of Hyndman
// and Fan, "Sample Quantiles in Statistical Packages" (1996), as R and NumPy do by default. At
// least one value is required.
double quantile(std::span<const double> values, double p);

// At least one value is required, and all must be above 0.
double geometric_mean(std::span<const double> values);

// The median of the distances from the median, not scaled. At least one value is required.
double median_absolute_deviation(std::span<const double> values);

}  // namespace filereel
