// How this folder works: each file is one method on plain numbers, with the source of its formula;
// nothing here knows of results. summary.h describes a sample, with intervals and with what makes
// it unreliable: outliers, several modes. rank_tests.h compares samples, and finds drift.
// significance.h corrects for many tests, and has the error budget that comparisons promise. Start
// with the functions here; comparisons begin with rank_tests.h.
//
// Figures of several values: medians, spread, outliers, shape and confidence intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace filereel {

// --- Summary figures of several values, most of them order statistics. All functions take finite
// values in any order and unit, and return the figure in the same unit.

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

// --- Detects outliers.

// The indexes of the values with a modified Z-score 0.6745 (x - median) / MAD beyond ±3.5: Iglewicz
// and Hoaglin, "How to Detect and Handle Outliers" (1993), section 3.5. If more than half of the
// values are equal, MAD is 0, and 1.253314 times the mean deviation from the median replaces MAD /
// 0.6745, so that not every other value is an outlier.
std::vector<std::size_t> outliers(std::span<const double> values);

// --- Detects bimodal values.

struct Modes {
  double low = 0, high = 0;  // medians of the two groups, in the values' unit
  std::size_t in_low = 0;    // number of values in the lower group
};

// The best cut of the sorted values into two groups (as Otsu's threshold, 1979), each with at least
// a fifth of them, if it explains at least 90 % of the variance. Unimodal values rarely pass: fewer
// than one in a hundred series of ten normal values, and no longer series. Returns nothing below 10
// values.
std::optional<Modes> bimodal_modes(std::span<const double> values);

// --- A confidence interval; the function that returns it states the confidence.

struct Interval {
  double low = 0, high = 0;
};

// A 95 % interval of `value` with a further independent error: a standard deviation on the scale of
// logarithms. Unchanged if it is not above 0.
std::optional<Interval> widened(const std::optional<Interval>& interval, double value,
                                double error);

// --- Confidence intervals of medians, and of figures calculated from several medians.

// Minimum number of values for an interval of the median: the extremes of five contain it with only
// 93.75 %, those of six with 96.9 %.
inline constexpr std::size_t kLeastForInterval = 6;

// The narrowest interval between the k-th smallest and the k-th largest value that contains the
// true median with at least 95 %, whatever the distribution (Conover, "Practical Nonparametric
// Statistics", 3rd ed. 1999, 3.2), in the values' unit.
std::optional<Interval> median_interval(std::span<const double> values);

// Minimum number of values of each series for an interval by resampling.
inline constexpr std::size_t kLeastResampled = 5;
inline constexpr std::size_t kResamples = 2000;

// Values sorted once, for the medians of many resamples: each counts its values by rank.
class RankedValues {
 public:
  explicit RankedValues(std::span<const double> values, Middle middle = Middle::of_times);

  std::size_t size() const { return order_.size(); }
  double median() const;
  // The median of the values at `positions`, at least one, exactly as `median` of summary.h gives
  // it.
  double median_of(std::span<const std::size_t> positions) const;

 private:
  std::vector<double> order_;         // smallest first
  std::vector<std::uint32_t> ranks_;  // by position, from 0; equal values have different ones
  Middle middle_;
};

// For each series, the positions of the values in a resample, as many as the series has.
using Resample = std::vector<std::vector<std::size_t>>;

// The 95 % percentile-bootstrap interval of a `statistic` of several series with the given numbers
// of values (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, 13.3). Each series is
// resampled kResamples times with replacement. The seed is fixed, so the figures are identical
// every time. Returns nothing without series, or if one has fewer than kLeastResampled values.
// docs/compare.md has the true confidence for geometric means of medians.
std::optional<Interval> resampled_interval(std::span<const std::size_t> sizes,
                                           const std::function<double(const Resample&)>& statistic);

}  // namespace filereel
