// By how much two samples differ.
#pragma once

#include <optional>
#include <span>

#include "replay/statistics/interval.h"

namespace filereel {

struct Ratio {
  double estimate = 1;
  // With 95 % confidence or more, whatever the distributions; nothing where the samples are too
  // small for that (fewer than four each).
  std::optional<Interval> interval = {};
};

// How many times as large `fresh` is as `base`: the median of all ratios of one value of each,
// which is the estimate of Hodges and Lehmann (1963) for the shift of the logarithms, and the
// interval that the Mann-Whitney law gives it (Moses; Hollander and Wolfe, "Nonparametric
// Statistical Methods", 4.3). All values must be above 0; neither sample may be empty.
Ratio ratio_of(std::span<const double> base, std::span<const double> fresh);

}  // namespace filereel
