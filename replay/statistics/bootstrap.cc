#include "replay/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "replay/statistics/order.h"

namespace filereel {
namespace {

// The probability of at least `least` hits in `n` draws, each with the probability `p`, 0 < p < 1.
double at_least(std::size_t least, std::size_t n, double p) {
  const double odds = std::log(p / (1 - p));
  double log_of_one = static_cast<double>(n) * std::log1p(-p);  // of exactly i hits
  double sum = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    if (i >= least) sum += std::exp(log_of_one);
    log_of_one += odds + std::log(static_cast<double>(n - i) / static_cast<double>(i + 1));
  }
  return sum;
}

}  // namespace

std::optional<Interval> median_interval(std::span<const double> values) {
  constexpr double kTail = 0.025;
  const std::size_t n = values.size();
  if (n < kLeastForInterval) return std::nullopt;
  std::vector<double> order(values.begin(), values.end());
  std::ranges::sort(order);
  // The lower middle value of a resample is among the k smallest values if at least half of the
  // draws are. The first k for which this is not rare gives the lower limit; the upper limit is its
  // mirror image.
  const std::size_t half = (n + 1) / 2;
  std::size_t first = 1, last = half;
  while (first < last) {
    const std::size_t k = (first + last) / 2;
    if (at_least(half, n, static_cast<double>(k) / static_cast<double>(n)) > kTail) {
      last = k;
    } else {
      first = k + 1;
    }
  }
  return Interval{order[first - 1], order[n - first]};
}

RankedValues::RankedValues(std::span<const double> values) : ranks_(values.size()) {
  std::vector<std::uint32_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0U);
  std::ranges::stable_sort(positions, {}, [&](std::uint32_t one) { return values[one]; });
  for (std::uint32_t rank = 0; rank < positions.size(); ++rank) {
    order_.push_back(values[positions[rank]]);
    ranks_[positions[rank]] = rank;
  }
}

double RankedValues::median() const {
  return filereel::median(order_);
}

double RankedValues::median_of(std::span<const std::size_t> positions) const {
  std::vector<std::uint32_t> counts(order_.size());
  for (const std::size_t position : positions) ++counts[ranks_[position]];
  const std::size_t middle = positions.size() / 2;
  std::size_t rank = 0, seen = counts[0];
  const auto value_at = [&](std::size_t place) {  // of the sorted resample; places must not fall
    while (seen <= place) seen += counts[++rank];
    return order_[rank];
  };
  if (positions.size() % 2 == 1) return value_at(middle);
  const double below = value_at(middle - 1);
  return (below + value_at(middle)) / 2;
}

std::optional<Interval> resampled_interval(
    std::span<const std::size_t> sizes, const std::function<double(const Resample&)>& statistic) {
  constexpr double kLow = 0.025, kHigh = 0.975;
  if (sizes.empty() || std::ranges::min(sizes) < kLeastForInterval) return std::nullopt;
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): reproducible
  Resample chosen;
  for (const std::size_t size : sizes) chosen.emplace_back(size);
  std::vector<double> values(kResamples);
  for (double& value : values) {
    for (std::vector<std::size_t>& series : chosen) {
      for (std::size_t& position : series) position = random() % series.size();
    }
    value = statistic(chosen);
  }
  return Interval{quantile(values, kLow), quantile(values, kHigh)};
}

}  // namespace filereel
