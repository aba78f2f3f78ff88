#include "replay/engine/lane_board.h"

#include <thread>

namespace filereel {
namespace {

// Many waits are over within microseconds. A yield lets the awaited lane run on this core; a sleep
// may leave the core idle, and waking that takes longer than most operations.
constexpr int kYields = 4;

}  // namespace

void LaneBoard::wait(std::uint32_t lane, std::uint64_t count) noexcept {
  Lane& one = lanes_[lane];
  // Not yet a waiter, so that the awaited lane need not wake it.
  for (int i = 0; i < kYields && !reached(lane, count); ++i) std::this_thread::yield();
  while (!reached(lane, count)) {
    // A wake clears the awaited count of all waiters; those not satisfied set it again. The number
    // of wakes reveals a wake between this point and the sleep.
    const std::uint32_t wakes = one.wakes.load();
    std::uint64_t wanted = one.wanted.load();
    while (count < wanted && !one.wanted.compare_exchange_weak(wanted, count)) {
    }
    if (one.done.load() >= count || released()) return;
    one.wakes.wait(wakes);
  }
}

void LaneBoard::wake(Lane& lane) noexcept {
  lane.wanted.store(kNobody);
  lane.wakes.fetch_add(1);
  lane.wakes.notify_all();
}

void LaneBoard::release_all() noexcept {
  released_.store(true);
  for (Lane& one : lanes_) wake(one);
  if (on_release_) on_release_();
}

}  // namespace filereel
