#include "replay/statistics/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "filesets/system/random.h"
#include "replay/statistics/rank_sums.h"

namespace filereel {
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

}  // namespace filereel
