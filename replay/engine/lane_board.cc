#include "replay/engine/lane_board.h"

#include <thread>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filereel {

void LaneBoard::yield(std::uint32_t lane, std::uint64_t count) const noexcept {
  constexpr int kYields = 4;
  for (int i = 0; i < kYields && !reached(lane, count); ++i) std::this_thread::yield();
}

void LaneBoard::wait(std::uint32_t self, std::uint32_t lane, std::uint64_t count) noexcept {
  if (reached(lane, count)) return;
  Lane& own = lanes_[self];
  Lane& other = lanes_[lane];
  own.awaited = count;
  own.woken.store(0);
  {
    const std::scoped_lock lock(other.mutex);
    Lane** place = &other.first;
    while (*place && (*place)->awaited <= count) place = &(*place)->next;
    own.next = *place;
    *place = &own;
    other.wanted.store(other.first->awaited);
  }
  if (other.done.load() >= count || released()) wake(other);
  while (own.woken.load() == 0) {
    syscall(SYS_futex, &own.woken, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }
}

// Wakes all whose condition is met, in their order.
void LaneBoard::wake(Lane& lane) noexcept {
  const auto is_met = [&](const Lane* waiter) {
    return waiter && (released() || waiter->awaited <= lane.done.load());
  };
  Lane* waiters;
  {
    const std::scoped_lock lock(lane.mutex);
    waiters = lane.first;
    do {
      while (is_met(lane.first)) lane.first = lane.first->next;
      lane.wanted.store(lane.first ? lane.first->awaited : kNobody);
    } while (is_met(lane.first));  // it has advanced since then
    if (waiters == lane.first) return;
    Lane* last = waiters;
    while (last->next != lane.first) last = last->next;
    last->next = nullptr;
  }
  // Without the lock, which those woken need to wait for this lane again.
  while (waiters) {
    Lane& waiter = *std::exchange(waiters, waiters->next);
    waiter.woken.store(1);
    syscall(SYS_futex, &waiter.woken, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

void LaneBoard::release_all() noexcept {
  released_.store(true);
  for (Lane& one : lanes_) wake(one);
  if (on_release_) on_release_();
}

}  // namespace filereel
