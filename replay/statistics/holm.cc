#include "replay/statistics/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace filereel {

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double corrected = p[order[rank]] * static_cast<double>(p.size() - rank);
    highest = std::clamp(corrected, highest, 1.0);
    adjusted[order[rank]] = highest;
  }
  return adjusted;
}

}  // namespace filereel
