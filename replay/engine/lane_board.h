// Tracks the progress of each lane of a replay, and lets others wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace filereel {

// A lane is a thread of the replay. Completed operations (calls and others, but not awaits and
// paces) are counted. Waiting uses futexes, not spinning. A waiter is woken when its own condition
// is met: neither by the operations before nor with other waiters.
class LaneBoard {
 public:
  explicit LaneBoard(std::size_t lanes) : lanes_(lanes) {}

  std::size_t size() const { return lanes_.size(); }

  // Counts completed operations of `lane`. Called only by that lane's thread.
  void advance(std::uint32_t lane, std::uint32_t count = 1) noexcept {
    Lane& one = lanes_[lane];
    // Sequentially consistent, like the waiter's: at least one of them sees the other's store.
    const std::uint64_t done = one.done.fetch_add(count) + count;
    if (done >= one.wanted.load()) wake(one);
  }

  // Returns when `lane` has completed `count` operations, or after release_all(). Acquires what
  // that lane has released. Called only by the thread of the waiting lane, `self`.
  void wait(std::uint32_t self, std::uint32_t lane, std::uint64_t count) noexcept;

  // Yields the processor a few times, at most until wait() would return at once. Many waits of a
  // replay without paces are over within microseconds. A yield lets the awaited lane run on this
  // core; a sleep may leave the core idle, and waking that takes longer than most operations.
  void yield(std::uint32_t lane, std::uint64_t count) const noexcept;

  // Whether wait() would return at once.
  bool reached(std::uint32_t lane, std::uint64_t count) const noexcept {
    return done(lane) >= count || released();
  }
  std::uint64_t done(std::uint32_t lane) const noexcept {
    return lanes_[lane].done.load(std::memory_order_acquire);
  }

  // Ends all waits, now and later: the replay ends early. Callable from any thread, any number of
  // times.
  void release_all() noexcept;
  bool released() const noexcept { return released_.load(); }

  // `action` is called by release_all(), too, on its thread. Set it before the replay starts. It
  // must not throw.
  void on_release(std::function<void()> action) { on_release_ = std::move(action); }

 private:
  static constexpr std::uint64_t kNobody = UINT64_MAX;
  struct alignas(64) Lane {
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> wanted = kNobody;  // the smallest count awaited
    std::mutex mutex;                             // of the waiters, by awaited count
    Lane* first = nullptr;
    // Of this lane as a waiter.
    Lane* next = nullptr;
    std::uint64_t awaited = 0;
    std::atomic<std::uint32_t> woken = 0;  // a futex
  };
  void wake(Lane& lane) noexcept;

  std::vector<Lane> lanes_;
  std::atomic<bool> released_ = false;
  std::function<void()> on_release_;
};

}  // namespace filereel
