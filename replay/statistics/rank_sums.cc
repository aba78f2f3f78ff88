#include "replay/statistics/rank_sums.h"

#include <algorithm>
#include <numeric>

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
  for (double& one : law) one /= all;
  return law;
}

}  // namespace filereel
