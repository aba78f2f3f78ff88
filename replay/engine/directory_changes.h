// Tells the threads of a replay which directories have changed their names.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "traces/path_table.h"

namespace filereel {

// Each thread keeps descriptors of directories by name (ParentCache). When a directory is renamed
// or removed, its name may refer to another one from then on, or to none. The thread that did it
// adds a change after its call; the others compare the count with the last one they have seen
// before each use, which costs one load, and give up only what the changes concern.
//
// Changes are numbered from 0. The last kKept are in a ring without a lock: each place has the
// change and the upper part of its number in one word. A reader that finds another number there is
// too late, or so early that the change is counted and not yet stored. Either way it knows that
// something changed, not what, and must give up all.
//
// Order: a thread sees the changes that happened before its operation, because the schedule makes
// it wait for the operation that made them, with release and acquire (LaneBoard). Where the order
// of a replay leaves that open, the operation may use either directory, as the calls of a program
// without this order would.
class DirectoryChanges {
 public:
  static constexpr std::uint64_t kKept = 256;

  struct Change {
    PathId path;
    bool below;  // names below it refer to other directories, too
  };

  void add(const Change& change) noexcept {
    const std::uint64_t number = count_.fetch_add(1, std::memory_order_relaxed);
    kept_[number % kKept].store(
        stamp(number) << kStampShift | std::uint64_t{change.below} << kBelowShift | change.path,
        std::memory_order_relaxed);
  }

  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // The change with this number, if it is known.
  std::optional<Change> at(std::uint64_t number) const noexcept {
    const std::uint64_t kept = kept_[number % kKept].load(std::memory_order_relaxed);
    if (kept >> kStampShift != stamp(number)) return std::nullopt;
    return Change{static_cast<PathId>(kept), (kept >> kBelowShift & 1) != 0};
  }

 private:
  static constexpr unsigned kBelowShift = 32, kStampShift = 33;

  // Not 0, the stamp of a place that was never used.
  static std::uint64_t stamp(std::uint64_t number) noexcept {
    return (number / kKept + 1) & (UINT64_MAX >> kStampShift);
  }

  std::atomic<std::uint64_t> count_ = 0;
  std::array<std::atomic<std::uint64_t>, kKept> kept_{};
};

}  // namespace filereel
