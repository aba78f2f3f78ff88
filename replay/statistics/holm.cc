#include "replay/statistics/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace filereel {

std::vector<double> holm_adjusted(std::span<const double> p, std::span<const double> weights) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i] / weights[i]; });
  std::vector<double> adjusted(p.size());
  double left = std::accumulate(weights.begin(), weights.end(), 0.0);
  double highest = 0;
  for (const std::size_t i : order) {
    highest = std::clamp(p[i] / weights[i] * left, highest, 1.0);
    adjusted[i] = highest;
    left -= weights[i];
  }
  return adjusted;
}

}  // namespace filereel
