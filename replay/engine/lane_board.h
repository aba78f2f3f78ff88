// How far each lane of a replay has come, and waiting for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace filereel {

// A lane is a thread of the replay. Its operations (calls and others, but not awaits and paces) are
// counted as they are done. Waiting is by futex, not by spinning, and a waiter is woken when what
// it waits for has come, not by every operation before.
class LaneBoard {
 public:
  explicit LaneBoard(std::size_t lanes) : lanes_(lanes) {}

  std::size_t size() const { return lanes_.size(); }

  // One more operation of `lane` is done. Called by that lane's thread only.
  void advance(std::uint32_t lane, std::uint32_t count = 1) noexcept {
    Lane& one = lanes_[lane];
    // Sequentially consistent, as is the waiter's: one of the two sees the other.
    const std::uint64_t done = one.done.fetch_add(count) + count;
    if (done >= one.wanted.load()) wake(one);
  }

  // Returns when `lane` has done `count` operations, or when all were released. Acquires what that
  // lane has released.
  void wait(std::uint32_t lane, std::uint64_t count) noexcept;

  // Whether wait() would return at once.
  bool reached(std::uint32_t lane, std::uint64_t count) const noexcept {
    return done(lane) >= count || released();
  }
  std::uint64_t done(std::uint32_t lane) const noexcept {
    return lanes_[lane].done.load(std::memory_order_acquire);
  }

  // Nobody waits any more, now or later: the replay ends early. Any thread, any number of times.
  void release_all() noexcept;
  bool released() const noexcept { return released_.load(); }

  // To be called by release_all() too, on its thread; set before the replay begins. Does not throw.
  void on_release(std::function<void()> action) { on_release_ = std::move(action); }

 private:
  static constexpr std::uint64_t kNobody = UINT64_MAX;
  struct alignas(64) Lane {
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> wanted = kNobody;  // the smallest count that somebody waits for
    std::atomic<std::uint32_t> wakes = 0;         // what they sleep on
  };
  static void wake(Lane& lane) noexcept;

  std::vector<Lane> lanes_;
  std::atomic<bool> released_ = false;
  std::function<void()> on_release_;
};

}  // namespace filereel
