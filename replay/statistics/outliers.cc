#include "replay/statistics/outliers.h"

#include <cmath>

#include "replay/statistics/order.h"

namespace filereel {

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

}  // namespace filereel
