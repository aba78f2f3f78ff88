#include "replay/statistics/drift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/statistics/normal.h"
#include "replay/statistics/order.h"
#include "replay/statistics/rank_sums.h"

namespace filereel {
namespace {

constexpr std::size_t kLeast = 6, kMostCounted = 30;

// Pairs in ascending order minus pairs in descending order.
std::int64_t rises_less_falls(std::span<const double> series) {
  std::int64_t score = 0;
  for (std::size_t j = 1; j < series.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      score += (series[j] > series[i] ? 1 : 0) - (series[j] < series[i] ? 1 : 0);
    }
  }
  return score;
}

// The share of all permutations of `n` values with a score at least as far from 0.
double counted_p(std::size_t n, std::int64_t score) {
  // law[f]: the probability of f descending pairs; the i-th value is below 0 to i-1 of the others.
  std::vector<double> law = {1};
  for (std::size_t i = 2; i <= n; ++i) {
    std::vector<double> next(law.size() + i - 1, 0);
    for (std::size_t f = 0; f < law.size(); ++f) {
      for (std::size_t more = 0; more < i; ++more) {
        next[f + more] += law[f] / static_cast<double>(i);
      }
    }
    law = std::move(next);
  }
  const auto pairs = static_cast<std::int64_t>(law.size()) - 1;
  double p = 0;
  for (std::int64_t f = 0; f <= pairs; ++f) {
    if (std::abs(pairs - 2 * f) >= std::abs(score)) p += law[static_cast<std::size_t>(f)];
  }
  return std::min(p, 1.0);
}

double normal_p(std::span<const std::size_t> ties, double n, std::int64_t score) {
  double variance = n * (n - 1) * (2 * n + 5);
  for (const std::size_t size : ties) {
    const auto t = static_cast<double>(size);
    variance -= t * (t - 1) * (2 * t + 5);
  }
  if (variance <= 0) return 1;  // all values are equal
  const double distance = std::max(std::abs(static_cast<double>(score)) - 1, 0.0);
  return std::min(2 * normal_tail(distance / std::sqrt(variance / 18)), 1.0);
}

}  // namespace

std::optional<Drift> drift_of(std::span<const double> series) {
  const std::size_t n = series.size();
  if (n < kLeast) return std::nullopt;
  std::vector<double> order(series.begin(), series.end());
  std::ranges::sort(order);
  const std::vector<std::size_t> ties = tie_sizes(order);
  const std::int64_t score = rises_less_falls(series);
  const bool counted = n <= kMostCounted && ties.size() == n;
  return Drift{counted ? counted_p(n, score) : normal_p(ties, static_cast<double>(n), score),
               median(series.last(n / 3)) / median(series.first(n / 3))};
}

}  // namespace filereel
