#include "replay/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "replay/statistics/order.h"

namespace filereel {

std::optional<Interval> median_interval(std::span<const double> values) {
  constexpr double kTail = 0.025;
  const std::size_t n = values.size();
  if (n < kLeastForInterval) return std::nullopt;
  std::vector<double> order(values.begin(), values.end());
  std::ranges::sort(order);
  // The number of values below the true median has a binomial distribution with p = 1/2. The k-th
  // smallest value is above the median if fewer than k are below it.
  double log_of_one = -static_cast<double>(n) * std::numbers::ln2;  // that exactly k are
  double at_most = std::exp(log_of_one);                            // that at most k are
  std::size_t k = 0;
  while (at_most <= kTail) {
    log_of_one += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    ++k;
    at_most += std::exp(log_of_one);
  }
  return Interval{order[k - 1], order[n - k]};
}

RankedValues::RankedValues(std::span<const double> values, Middle middle)
    : ranks_(values.size()), middle_(middle) {
  std::vector<std::uint32_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0U);
  std::ranges::stable_sort(positions, {}, [&](std::uint32_t one) { return values[one]; });
  for (std::uint32_t rank = 0; rank < positions.size(); ++rank) {
    order_.push_back(values[positions[rank]]);
    ranks_[positions[rank]] = rank;
  }
}

double RankedValues::median() const {
  return filereel::median(order_, middle_);
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
  return middle_of(below, value_at(middle), middle_);
}

std::optional<Interval> resampled_interval(
    std::span<const std::size_t> sizes, const std::function<double(const Resample&)>& statistic) {
  constexpr double kLow = 0.025, kHigh = 0.975;
  if (sizes.empty() || std::ranges::min(sizes) < kLeastResampled) return std::nullopt;
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
