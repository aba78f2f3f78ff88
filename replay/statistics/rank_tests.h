// Tests on ranks: whether two samples have the same location, by how much they differ, whether a
// series drifts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "replay/statistics/summary.h"

namespace filereel {

// --- The distribution of the rank sums of two samples under the null hypothesis.

// Whether the distribution is computed exactly for samples of these sizes. Otherwise this needs too
// much work, and the normal distribution is a close approximation.
bool ranks_are_counted(std::size_t first, std::size_t second);

// The sizes of the groups of equal values, in ascending order: {1, 2, 1} for 3, 5, 5, 8.
std::vector<std::size_t> tie_sizes(std::span<const double> sorted);

// The probability of each sum of doubled mid-ranks (1-based, ties share their mean) of `chosen` of
// the values, if all choices are equally likely. Index: the sum. By dynamic programming over the
// groups of ties, as in Streitberg and Röhmel's shift algorithm (1986).
std::vector<double> rank_sum_law(std::span<const std::size_t> ties, std::size_t chosen);

// --- Tests whether two samples have the same location.

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

// --- Estimates the ratio of two samples.

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

// --- Detects a trend in a series.

struct Drift {
  double p = 1;       // two-sided, of no trend
  double change = 1;  // median of the last third divided by that of the first
};

// The Mann-Kendall trend test (Mann 1945, Kendall 1975) for values above 0 in measurement order. p
// is exact up to 30 values without ties; otherwise from the normal approximation with corrections
// for ties and continuity. Returns nothing below 6 values, because no order of so few is rare
// enough.
std::optional<Drift> drift_of(std::span<const double> series);

}  // namespace filereel
