// The leaves of a B-tree whose keys come in any order: which leaf a key lies in, and how leaves
// split. Only sizes are kept, not the records.
#pragma once

#include <cstdint>
#include <map>

#include "traces/mysql/segment.h"

namespace filereel {

class KeyTree {
 public:
  static constexpr std::uint32_t kRoom = kPage - 250;  // bytes of records in a leaf

  explicit KeyTree(TableSpace& space) : segment_(space) {}

  // Begins with `leaves` leaves over keys below `keys`, filled to `fill` bytes on average, in the
  // order in the file that growing by splits makes: every doubling puts new leaves behind the old
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
  // The `number`th page in the order of the file.
  PageId page(std::uint32_t number) const { return segment_.page(number); }

 private:
  struct Leaf {
    std::uint32_t number;  // of its page in the segment
    std::uint32_t bytes;
  };
  Segment segment_;
  std::map<std::uint64_t, Leaf> leaves_;  // by their lowest keys
  std::uint64_t end_ = 0;                 // keys are below it so far
};

}  // namespace filereel
