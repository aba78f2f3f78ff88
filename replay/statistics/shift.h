// Estimates the ratio of two samples.
#pragma once

#include <optional>
#include <span>

#include "replay/statistics/interval.h"

namespace filereel {

struct Ratio {
  double estimate = 1;
  // With at least 95 % confidence for any distribution; nothing if the samples are too small (fewer
  // than four each).
  std::optional<Interval> interval = {};
};

// The ratio of `fresh` to `base`: the median of all ratios between their values, which is the
// Hodges-Lehmann estimate (1963) of the shift of the logarithms, and the corresponding interval
// from the Mann-Whitney distribution (Moses; Hollander and Wolfe, "Nonparametric Statistical
// Methods", 4.3). All values must be above 0; neither sample may be empty.
Ratio ratio_of(std::span<const double> base, std::span<const double> fresh);

}  // namespace filereel
