// How well a median is known.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

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

}  // namespace filereel
