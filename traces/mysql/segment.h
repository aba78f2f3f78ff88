// The pages of a table space that belong to an index: whole extents, in the order in which the
// indexes of the file needed them.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/mysql/buffer_pool.h"

namespace filereel {

inline constexpr std::uint32_t kExtent = 64;  // pages

class TableSpace {
 public:
  explicit TableSpace(ServerFile file) : file_(file) {}
  ServerFile file() const { return file_; }
  std::uint32_t take_extent() { return kExtent * extents_++; }
  std::uint32_t pages() const { return kExtent * extents_; }

 private:
  ServerFile file_;
  std::uint32_t extents_ = 1;  // the first holds the headers
};

class Segment {
 public:
  explicit Segment(TableSpace& space) : space_(&space) {}

  std::uint32_t pages() const { return pages_; }
  // Adds a page.
  void grow() {
    if (pages_++ % kExtent == 0) extents_.push_back(space_->take_extent());
  }
  // Returns page `number`, which must exist.
  PageId page(std::uint32_t number) const {
    return {space_->file(), extents_[number / kExtent] + number % kExtent};
  }

 private:
  TableSpace* space_;
  std::vector<std::uint32_t> extents_;
  std::uint32_t pages_ = 0;
};

}  // namespace filereel
