// Summary figures of several values, most of them order statistics. All functions take finite
// values in any order and unit, and return the figure in the same unit.
#pragma once

#include <span>

namespace filereel {

// The middle value, or the mean of the two in the middle. At least one value is required.
double median(std::span<const double> values);

// The quantile `p` (0 to 1), linearly interpolated between neighbours: type 7 of Hyndman and Fan,
// "Sample Quantiles in Statistical Packages" (1996), the default of R and NumPy. At least one value
// is required.
double quantile(std::span<const double> values, double p);

// At least one value is required.
double mean(std::span<const double> values);

// The unbiased variance of a sample, in the square of the unit. At least two values are required.
double variance(std::span<const double> values);

// At least one value is required, and all must be above 0.
double geometric_mean(std::span<const double> values);

// The median of the absolute deviations from the median, not scaled. At least one value is
// required.
double median_absolute_deviation(std::span<const double> values);

}  // namespace filereel
