// The distribution of the rank sums of two samples under the null hypothesis.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace filereel {

// Whether the distribution is computed exactly for samples of these sizes. Otherwise this needs too
// much work, and the normal distribution is a close approximation.
bool ranks_are_counted(std::size_t first, std::size_t second);

// The sizes of the groups of equal values, in ascending order: {1, 2, 1} for 3, 5, 5, 8.
std::vector<std::size_t> tie_sizes(std::span<const double> sorted);

// The probability of each sum of doubled mid-ranks (1-based, ties share their mean) of `chosen` of
// the values, if all choices are equally likely. Index: the sum. By dynamic programming over the
// groups of ties, as in Streitberg and Röhmel's shift algorithm (1986).
std::vector<double> rank_sum_law(std::span<const std::size_t> ties, std::size_t chosen);

}  // namespace filereel
