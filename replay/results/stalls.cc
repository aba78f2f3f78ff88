#include "replay/results/stalls.h"

#include <algorithm>

namespace filereel {

std::uint64_t stall_threshold(const Histogram& usual) {
  constexpr std::uint64_t kOfP999 = 3, kOfP99 = 10;
  const std::uint64_t unusual =
      std::min(kOfP999 * usual.percentile(0.999), kOfP99 * usual.percentile(0.99));
  return std::max(unusual, kLeastStallNs);
}

Stalls stalls_above(const Histogram& latencies, std::uint64_t threshold) {
  return {latencies.count_above(threshold), latencies.total_above(threshold) * 1e-9};
}

}  // namespace filereel
