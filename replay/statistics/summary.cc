#include "replay/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace filereel {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

double middle_of(double low, double high, Middle middle) {
  if (middle == Middle::of_times) return (low + high) / 2;
  return low > 0 && high > 0 ? 2 / (1 / low + 1 / high) : 0;
}

double median(std::span<const double> values, Middle middle) {
  const std::vector<double> order = sorted(values);
  const std::size_t half = order.size() / 2;
  return order.size() % 2 == 1 ? order[half] : middle_of(order[half - 1], order[half], middle);
}

double quantile(std::span<const double> values, double p) {
  const std::vector<double> order = sorted(values);
  const double place = p * static_cast<double>(order.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, order.size() - 1);
  return std::lerp(order[below], order[above], place - static_cast<double>(below));
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(std::span<const double> values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum / static_cast<double>(values.size() - 1);
}

double geometric_mean(std::span<const double> values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

double median_absolute_deviation(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return median(distances);
}

std::vector<std::size_t> outliers(std::span<const double> values) {
  constexpr double kFarthest = 3.5;
  std::vector<std::size_t> found;
  if (values.empty()) return found;
  const double middle = median(values);
  double deviation = median_absolute_deviation(values) / 0.6745;
  if (deviation <= 0) {
    for (const double value : values) deviation += std::abs(value - middle);
    deviation *= 1.253314 / static_cast<double>(values.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - middle) > kFarthest * deviation) found.push_back(i);
  }
  return found;
}

std::optional<Modes> bimodal_modes(std::span<const double> values) {
  constexpr std::size_t kLeast = 10;
  constexpr double kExplained = 0.9;
  const std::size_t n = values.size();
  if (n < kLeast) return std::nullopt;
  std::vector<double> order(values.begin(), values.end());
  std::ranges::sort(order);
  const auto count = static_cast<double>(n);
  const double mean = std::accumulate(order.begin(), order.end(), 0.0) / count;
  double variation = 0;  // sum of squares about the mean
  for (double& value : order) {
    value -= mean;
    variation += value * value;
  }
  if (variation <= 0) return std::nullopt;
  const std::size_t fewest = (n + 4) / 5;
  double sum = 0, best = 0;  // of the values below the cut; largest variation between the groups
  std::size_t cut = 0;
  for (std::size_t below = 1; below <= n - fewest; ++below) {
    sum += order[below - 1];
    if (below < fewest) continue;
    const auto b = static_cast<double>(below);
    const double between = sum * sum / b + sum * sum / (count - b);
    if (between > best) {
      best = between;
      cut = below;
    }
  }
  if (best < kExplained * variation) return std::nullopt;
  const std::span<const double> all(order);
  return Modes{mean + median(all.first(cut)), mean + median(all.subspan(cut)), cut};
}

std::optional<Interval> widened(const std::optional<Interval>& interval, double value,
                                double error) {
  if (!interval || !(interval->low > 0) || !(value > 0)) return interval;
  constexpr double kDeviations = 1.959964;
  const double low = std::hypot(std::log(value / interval->low), kDeviations * error),
               high = std::hypot(std::log(interval->high / value), kDeviations * error);
  return Interval{value * std::exp(-low), value * std::exp(high)};
}

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
