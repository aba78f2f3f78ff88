// The law that rank sums of two samples follow when nothing tells them apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace filereel {

// Whether the law is counted out (exactly) for samples of these sizes; else it is too much work,
// and the normal distribution is close.
bool ranks_are_counted(std::size_t first, std::size_t second);

// How many values are equal, from the smallest value on: {1, 2, 1} for 3, 5, 5, 8.
std::vector<std::size_t> tie_sizes(std::span<const double> sorted);

// The probability of each sum of twice the mid-ranks (1-based, ties share their mean) that `chosen`
// of the values can have when each choice is as likely as any other. Index: the sum. By dynamic
// programming over the groups of ties, as in Streitberg and Röhmel's shift algorithm (1986).
std::vector<double> rank_sum_law(std::span<const std::size_t> ties, std::size_t chosen);

}  // namespace filereel
