// How far each lane of a replay has come, and waiting for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace filereel {

// A lane is a thread of the replay. Its operations (calls and others, but not awaits and paces) are
// counted as they are done. Waiting is by futex, not by spinning.
class LaneBoard {
 public:
  explicit LaneBoard(std::size_t lanes) : lanes_(lanes) {}

  std::size_t size() const { return lanes_.size(); }

  // One more operation of `lane` is done. Called by that lane's thread only.
  void advance(std::uint32_t lane, std::uint32_t count = 1) noexcept {
    Lane& one = lanes_[lane];
    // Sequentially consistent, as is the waiter's: one of the two sees the other.
    one.done.fetch_add(count);
    if (one.waiters.load() != 0) one.done.notify_all();
  }

  // Returns when `lane` has done `count` operations (modulo 2^32; never further apart than 2^31),
  // or when all were released. Acquires what that lane has released.
  void wait(std::uint32_t lane, std::uint64_t count) noexcept;

  // Whether wait() would return at once.
  bool reached(std::uint32_t lane, std::uint64_t count) const noexcept {
    return passed(lanes_[lane].done.load(std::memory_order_acquire), count);
  }

  // Nobody waits any more, now or later: the replay ends early.
  void release_all() noexcept;

 private:
  struct alignas(64) Lane {
    std::atomic<std::uint32_t> done = 0;
    std::atomic<std::uint32_t> waiters = 0;
  };
  static bool passed(std::uint32_t done, std::uint64_t count) noexcept {
    return static_cast<std::int32_t>(done - static_cast<std::uint32_t>(count)) >= 0;
  }

  std::vector<Lane> lanes_;
  std::atomic<bool> released_ = false;
};

}  // namespace filereel
