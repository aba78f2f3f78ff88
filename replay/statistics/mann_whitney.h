// Whether two samples come from the same place.
#pragma once

#include <cstddef>
#include <span>

namespace filereel {

struct MannWhitney {
  double u = 0;  // pairs in which the first sample's value is larger, ties counted half
  double p = 1;  // two-sided
};

// The Mann-Whitney U test (1947). Neither sample may be empty; units must be the same, nothing is
// assumed of the distributions. Where ranks_are_counted, p is exact with ties, too: the share of
// all ways to deal out the values whose U is as far from its mean as the one seen, or farther. Else
// the normal approximation with the correction for ties (Lehmann, "Nonparametrics", 1975, 1.4) and
// for continuity.
MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second);

// The smallest p that samples of these sizes can give, without ties.
double least_p(std::size_t first, std::size_t second);

}  // namespace filereel
