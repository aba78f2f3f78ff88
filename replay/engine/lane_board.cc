// The problem. Lanes wait until another one has completed a number of operations, and there are up
// to 2048 of them (schedule.cc). With one condition variable, each completion would wake all.
// Spinning would take the processors from those that are waited for. And a lane for which nobody
// waits, the common case, must pay next to nothing.
//
// So each lane has its counter, and a list of its waiters by awaited count. `wanted` is the count
// of the first of them. advance() is one atomic addition and one load; only if the counter has
// reached `wanted`, wake() is called. A waiter sleeps on a futex of its own, so it is woken alone,
// and once.
//
// No wake-up is lost, because both sides store before they load, in sequentially consistent order:
// the lane `done` and then `wanted`, the waiter `wanted` and then `done`. At least one of them sees
// the other's store and calls wake(). With weaker orders both could miss. wake() itself repeats the
// pair in its loop, since the lane may advance meanwhile.
//
// Members of Lane and their owners:
// - `done`: written by the lane's own thread, read by all.
// - `first`, and `next` and `awaited` of those in the list: guarded by the mutex of the awaited
//   lane, not of the waiter. `wanted` is written under it, and read without.
// - `next` and `awaited` before insertion: the waiter. After removal: the thread that removed it,
//   until it stores `woken`. From then on the waiter may return and insert itself elsewhere, so
//   wake() reads `next` before. The futex call after the store may wake a later wait, which finds
//   `woken` 0 and sleeps again.
//
// Waiters are woken without the mutex, which they would need first for their next wait.
// release_all() sets `released_` before it visits the lanes; a waiter that inserts itself later
// sees it.
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
  for (Lane& lane : lanes_) wake(lane);
  if (on_release_) on_release_();
}

}  // namespace filereel
