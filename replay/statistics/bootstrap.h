// How well medians, and what is calculated of several, are known.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "replay/statistics/interval.h"

namespace filereel {

// Below this there is no interval: the extremes of four values hold the median with 87.5 % only,
// and no interval made of values can be wider. Those of five hold it with 93.75 %.
inline constexpr std::size_t kLeastForInterval = 5;

// The 95 % percentile-bootstrap interval of the median, in the values' unit. Which value becomes
// the median of a resample follows a binomial law (Efron, "Bootstrap Methods: Another Look at the
// Jackknife", 1979, section 3; Maritz and Jarrett 1978), so that the limits of infinitely many
// resamples are computed and none is drawn: no seed, the same figures every time, and cheap. For an
// even number of values the limits are those of the lower and of the upper middle value, which is
// never too narrow. As with every bootstrap of few values the true confidence differs: with 5 to 12
// values it is 88 to 98 %, whatever their distribution, from 20 on 92 to 97 %.
std::optional<Interval> median_interval(std::span<const double> values);

inline constexpr std::size_t kResamples = 2000;

// For each series the positions of the values that a resample takes, as many as the series has.
using Resample = std::vector<std::vector<std::size_t>>;

// The 95 % percentile-bootstrap interval of what `statistic` makes of several series of so many
// values each (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, 13.3): kResamples
// times each series is drawn from itself, with replacement. The generator's seed is fixed, so that
// the figures are the same every time. Nothing without series, and where one has fewer than
// kLeastForInterval values. docs/compare.md has the true
// confidence for geometric means of medians.
std::optional<Interval> resampled_interval(std::span<const std::size_t> sizes,
                                           const std::function<double(const Resample&)>& statistic);

}  // namespace filereel
