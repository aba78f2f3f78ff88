#include "replay/statistics/shape.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "replay/statistics/order.h"

namespace filereel {

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

}  // namespace filereel
