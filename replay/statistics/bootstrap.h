// Confidence intervals of medians, and of figures calculated from several medians.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "replay/statistics/interval.h"
#include "replay/statistics/order.h"

namespace filereel {

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
  // The median of the values at `positions`, at least one, exactly as `median` of order.h gives it.
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
