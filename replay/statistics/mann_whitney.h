// Tests whether two samples have the same location.
#pragma once

#include <cstddef>
#include <span>

namespace filereel {

struct MannWhitney {
  double u = 0;  // pairs with the larger value in the first sample, ties counted half
  double p = 1;  // two-sided
};

// The Mann-Whitney U test (1947). Both samples must be non-empty and in the same unit; nothing is
// assumed about the distributions. If ranks_are_counted, p is exact even with ties: the share of
// all assignments of the values whose U is at least as far from its mean as the observed one.
// Otherwise the normal approximation with corrections for ties (Lehmann, "Nonparametrics", 1975,
// 1.4) and for continuity.
MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second);

// The smallest possible p for samples of these sizes, without ties.
double least_p(std::size_t first, std::size_t second);

}  // namespace filereel
