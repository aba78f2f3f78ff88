#include "replay/statistics/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/statistics/normal.h"
#include "replay/statistics/rank_sums.h"

namespace filereel {
namespace {

// Twice the sum of the first sample's mid-ranks among all values.
std::size_t doubled_rank_sum(std::span<const double> first, std::span<const double> all_sorted) {
  std::size_t sum = 0;
  for (const double value : first) {
    const auto [begin, end] = std::ranges::equal_range(all_sorted, value);
    sum += static_cast<std::size_t>(begin - all_sorted.begin()) + 1 +
           static_cast<std::size_t>(end - all_sorted.begin());
  }
  return sum;
}

double exact_p(std::span<const std::size_t> ties, std::size_t chosen, double n,
               std::size_t doubled) {
  const std::vector<double> law = rank_sum_law(ties, chosen);
  const double mean = static_cast<double>(chosen) * (n + 1);  // of doubled sums, so a whole number
  const double seen = std::abs(static_cast<double>(doubled) - mean);
  double p = 0;
  for (std::size_t s = 0; s < law.size(); ++s) {
    if (std::abs(static_cast<double>(s) - mean) >= seen) p += law[s];
  }
  return std::min(p, 1.0);
}

double normal_p(std::span<const std::size_t> ties, double m, double n, double u) {
  const double all = m + n;
  double tied = 0;
  for (const std::size_t size : ties) {
    const auto t = static_cast<double>(size);
    tied += t * t * t - t;
  }
  const double variance = m * n / 12 * (all + 1 - tied / (all * (all - 1)));
  if (variance <= 0) return 1;  // all values are equal
  const double distance = std::max(std::abs(u - m * n / 2) - 0.5, 0.0);
  return std::min(2 * normal_tail(distance / std::sqrt(variance)), 1.0);
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  std::ranges::sort(all);
  const std::size_t doubled = doubled_rank_sum(first, all);
  const auto m = static_cast<double>(first.size()), n = static_cast<double>(second.size());
  const std::vector<std::size_t> ties = tie_sizes(all);
  MannWhitney test{static_cast<double>(doubled) / 2 - m * (m + 1) / 2};
  if (!ranks_are_counted(first.size(), second.size())) {
    test.p = normal_p(ties, m, n, test.u);
  } else if (first.size() <= second.size()) {
    test.p = exact_p(ties, first.size(), m + n, doubled);
  } else {
    // All ranks sum to N (N + 1) / 2 (here doubled), which gives the second sample's sum.
    const std::size_t total = all.size() * (all.size() + 1);
    test.p = exact_p(ties, second.size(), m + n, total - doubled);
  }
  return test;
}

double least_p(std::size_t first, std::size_t second) {
  double p = 2;  // one arrangement at either end
  for (std::size_t i = 1; i <= std::min(first, second); ++i) {
    p *= static_cast<double>(i) / static_cast<double>(std::max(first, second) + i);
  }
  return std::min(p, 1.0);
}

}  // namespace filereel
