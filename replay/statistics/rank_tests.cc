#include "replay/statistics/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "filesets/system/random.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {

bool ranks_are_counted(std::size_t first, std::size_t second) {
  return std::min(first, second) * (first + second) <= 3000;  // 38 and 38, or 10 and 290
}

std::vector<std::size_t> tie_sizes(std::span<const double> sorted) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i] == sorted[i - 1]) {
      ++sizes.back();
    } else {
      sizes.push_back(1);
    }
  }
  return sizes;
}

std::vector<double> rank_sum_law(std::span<const std::size_t> ties, std::size_t chosen) {
  const std::size_t n = std::accumulate(ties.begin(), ties.end(), std::size_t{0});
  const std::size_t sums = 2 * chosen * n + 1;
  // ways[k * sums + s]: number of choices of k of the values so far with the sum s.
  std::vector<double> ways((chosen + 1) * sums, 0);
  ways[0] = 1;
  std::size_t below = 0;
  for (const std::size_t size : ties) {
    const std::size_t rank = 2 * below + size + 1;  // twice the mean of below + 1 … below + size
    // Descending, so that entries are read before they are updated.
    for (std::size_t k = std::min(chosen, below + size); k > 0; --k) {
      double choices = 1;
      for (std::size_t taken = 1; taken <= std::min(k, size); ++taken) {
        choices *= static_cast<double>(size - taken + 1) / static_cast<double>(taken);
        const double* from = &ways[(k - taken) * sums];
        double* to = &ways[k * sums];
        // The values so far have no larger sums.
        const std::size_t end = taken * rank + (k - taken) * 2 * below + 1;
        for (std::size_t s = taken * rank; s < end; ++s) to[s] += choices * from[s - taken * rank];
      }
    }
    below += size;
  }
  std::vector<double> law(ways.end() - static_cast<std::ptrdiff_t>(sums), ways.end());
  const double all = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& probability : law) probability /= all;
  return law;
}

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

namespace {

constexpr double kTail = 0.025;

std::vector<double> sorted_logarithms(std::span<const double> values) {
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) logarithms.push_back(std::log(value));
  std::ranges::sort(logarithms);
  return logarithms;
}

// The k-th smallest (from 1) of all differences between a value of `y` and one of `x`. Found by
// bisection, because all differences of two samples of ten thousand would not fit into memory. Ends
// at the required precision, or at two neighbouring doubles that are farther apart.
double difference(const std::vector<double>& x, const std::vector<double>& y, std::size_t k) {
  constexpr double kPrecision = 1e-13;
  const auto at_most = [&](double limit) {  // number of differences at most `limit`
    std::size_t count = 0, j = 0;
    for (const double one : x) {
      while (j < y.size() && y[j] - one <= limit) ++j;
      count += j;
    }
    return count;
  };
  double low = y.front() - x.back() - kPrecision, high = y.back() - x.front();
  while (high - low > kPrecision) {
    const double middle = std::midpoint(low, high);
    if (!(low < middle && middle < high)) break;
    (at_most(middle) >= k ? high : low) = middle;
  }
  return high;
}

// The largest k with P(U < k) of at most kTail; 0 if there is none.
std::size_t critical_count(std::size_t m, std::size_t n) {
  if (!ranks_are_counted(m, n)) {
    const auto a = static_cast<double>(m), b = static_cast<double>(n);
    const double spread = std::sqrt(a * b * (a + b + 1) / 12);
    return static_cast<std::size_t>(std::max(a * b / 2 - normal_quantile(1 - kTail) * spread, 0.0));
  }
  const std::size_t fewer = std::min(m, n);
  const std::vector<std::size_t> ties(m + n, 1);
  const std::vector<double> law = rank_sum_law(ties, fewer);
  std::size_t k = 0;
  double below = 0;
  // U = 0 corresponds to the smallest sum, 2 (1 + … + fewer); each step of U is two steps of the
  // doubled sum.
  for (std::size_t s = fewer * (fewer + 1); below + law[s] <= kTail; s += 2) {
    below += law[s];
    ++k;
  }
  return k;
}

}  // namespace

Ratio ratio_of(std::span<const double> base, std::span<const double> fresh) {
  const std::vector<double> x = sorted_logarithms(base), y = sorted_logarithms(fresh);
  const std::size_t pairs = x.size() * y.size();
  Ratio ratio;
  const double lower = difference(x, y, (pairs + 1) / 2);
  const double upper = pairs % 2 == 1 ? lower : difference(x, y, pairs / 2 + 1);
  ratio.estimate = std::exp(std::midpoint(lower, upper));
  if (const std::size_t k = critical_count(x.size(), y.size()); k > 0) {
    ratio.interval =
        Interval{std::exp(difference(x, y, k)), std::exp(difference(x, y, pairs + 1 - k))};
  }
  return ratio;
}

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
