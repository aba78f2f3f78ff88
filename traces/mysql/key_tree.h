// The leaves of a B-tree with keys in any order: the leaf of each key, and splits. Only sizes are
// kept, not records.
#pragma once

#include <cstdint>
#include <map>

#include "traces/mysql/segment.h"

namespace filereel {

class KeyTree {
 public:
  static constexpr std::uint32_t kRoom = kPage - 250;  // bytes of records in a leaf

  explicit KeyTree(TableSpace& space) : segment_(space) {}

  // Starts with `leaves` leaves over keys below `keys`, filled to `fill` bytes on average. The
  // order in the file is that of growth by splits: each doubling puts new leaves after the old
  // ones.
  void begin_with(std::uint32_t leaves, std::uint64_t keys, std::uint32_t fill);

  struct Found {
    PageId page;
    bool split = false;
    PageId added{};  // the new leaf, if it was split
  };
  Found find(std::uint64_t key) const;
  Found insert(std::uint64_t key, std::uint32_t bytes);
  std::uint32_t leaves() const { return segment_.pages(); }
  // Page `number` in the order of the file.
  PageId page(std::uint32_t number) const { return segment_.page(number); }

 private:
  struct Leaf {
    std::uint32_t number;  // of its page in the segment
    std::uint32_t bytes;
  };
  Segment segment_;
  std::map<std::uint64_t, Leaf> leaves_;  // by their lowest keys
  std::uint64_t end_ = 0;                 // all keys so far are below it
};

}  // namespace filereel
