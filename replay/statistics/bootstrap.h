// Confidence intervals of medians, and of figures calculated from several medians.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "replay/statistics/interval.h"

namespace filereel {

// Minimum number of values for an interval. The extremes of four values contain the median with
// only 87.5 %, and no interval of values can be wider. Those of five contain it with 93.75 %.
inline constexpr std::size_t kLeastForInterval = 5;

// The 95 % percentile-bootstrap interval of the median, in the values' unit. The value that is the
// median of a resample follows a binomial law (Efron, "Bootstrap Methods: Another Look at the
// Jackknife", 1979, section 3; Maritz and Jarrett 1978). The limits for infinitely many resamples
// are therefore computed without drawing any: no seed, identical figures every time, and little
// cost. For an even number of values the limits are those of the lower and the upper middle value,
// which is never too narrow. As with every bootstrap of few values the true confidence differs: for
// any distribution it is 88 to 98 % with 5 to 12 values, and 92 to 97 % from 20 values.
std::optional<Interval> median_interval(std::span<const double> values);

inline constexpr std::size_t kResamples = 2000;

// Values sorted once, for the medians of many resamples: each counts its values by rank.
class RankedValues {
 public:
  explicit RankedValues(std::span<const double> values);

  std::size_t size() const { return order_.size(); }
  double median() const;
  // The median of the values at `positions`, at least one, exactly as `median` of order.h gives it.
  double median_of(std::span<const std::size_t> positions) const;

 private:
  std::vector<double> order_;         // smallest first
  std::vector<std::uint32_t> ranks_;  // by position, from 0; equal values have different ones
};

// For each series, the positions of the values in a resample, as many as the series has.
using Resample = std::vector<std::vector<std::size_t>>;

// The 95 % percentile-bootstrap interval of a `statistic` of several series with the given numbers
// of values (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, 13.3). Each series is
// resampled kResamples times with replacement. The seed is fixed, so the figures are identical
// every time. Returns nothing without series, or if one has fewer than kLeastForInterval values.
// docs/compare.md has the true confidence for geometric means of medians.
std::optional<Interval> resampled_interval(std::span<const std::size_t> sizes,
                                           const std::function<double(const Resample&)>& statistic);

}  // namespace filereel
