#include "replay/statistics/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

}  // namespace filereel
