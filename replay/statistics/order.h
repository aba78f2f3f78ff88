// How this folder works: each file is one method on plain numbers, with the source of its formula;
// nothing here knows of results. order.h describes a sample, bootstrap.h and interval.h give
// intervals, mann_whitney.h and student.h test, holm.h corrects for many tests, drift.h, shape.h
// and outliers.h find what makes samples unreliable. verdict_runs.h has the error budget that
// comparisons promise. Start with the functions here; comparisons begin with shift.h.
//
// Summary figures of several values, most of them order statistics. All functions take finite
// values in any order and unit, and return the figure in the same unit.
#pragma once

#include <cstdint>
#include <span>

namespace filereel {

// How the two values in the middle of an even number are joined to a median: times by their
// arithmetic mean. Rates of equal work by their harmonic mean, which is the rate at the median of
// the times, so that a table never shows a time and a rate that contradict each other.
enum class Middle : std::uint8_t { of_times, of_rates };

double middle_of(double low, double high, Middle middle);

// The middle value, or `middle_of` the two in the middle. At least one value is required.
double median(std::span<const double> values, Middle middle = Middle::of_times);

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
