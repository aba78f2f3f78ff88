#include "replay/engine/lane_board.h"

namespace filereel {

void LaneBoard::wait(std::uint32_t lane, std::uint64_t count) noexcept {
  Lane& one = lanes_[lane];
  std::uint32_t seen = one.done.load(std::memory_order_acquire);
  if (passed(seen, count)) return;
  one.waiters.fetch_add(1);
  while (!passed(seen = one.done.load(), count) && !released_.load()) one.done.wait(seen);
  one.waiters.fetch_sub(1);
}

void LaneBoard::release_all() noexcept {
  released_.store(true);
  for (Lane& one : lanes_) {
    // A waiter sleeps on a value: only another value wakes it for good.
    one.done.fetch_add(1U << 30);
    one.done.notify_all();
  }
}

}  // namespace filereel
