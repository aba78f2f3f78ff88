#include "replay/schedule/lanes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace filereel {

Lanes assign_lanes(std::span<const TraceThread> threads) {
  std::vector<std::uint32_t> order(threads.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t i) { return threads[i].operations == 0; });
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return threads[i].first; });

  using Free = std::pair<std::uint64_t, std::uint32_t>;  // last operation so far, lane
  std::priority_queue<Free, std::vector<Free>, std::greater<>> lanes;
  Lanes result{std::vector<std::uint32_t>(threads.size()), 0};
  for (const std::uint32_t i : order) {
    auto lane = static_cast<std::uint32_t>(result.count);
    if (!lanes.empty() && lanes.top().first < threads[i].first) {
      lane = lanes.top().second;
      lanes.pop();
    } else {
      ++result.count;
    }
    result.of_thread[i] = lane;
    lanes.emplace(threads[i].last, lane);
  }
  result.count = std::max<std::size_t>(result.count, 1);
  return result;
}

}  // namespace filereel
