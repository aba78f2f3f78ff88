// Other numbers for the open files of a trace.
#pragma once

#include <cstddef>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// Traces take the lowest free number, so that a file often gets the number of one that was closed
// just before; the open would have to wait for that close even where the two have nothing to do
// with each other. Here numbers are taken again in the order in which they were given back, and
// there are more of them than needed. Works for mappings too.
class SlotRenaming {
 public:
  // Numbers of the trace are below `slots`; `spare` more are used.
  SlotRenaming(std::size_t slots, std::size_t spare);

  FileSlot opened(FileSlot slot);
  FileSlot used(FileSlot slot) const {
    return slot < renamed_.size() ? renamed_[slot] : never_opened();
  }
  FileSlot closed(FileSlot slot);
  // Of an open that failed: nobody else has it, and it is free again at once.
  FileSlot failed();

  // Stands for everything that is not open where it is used.
  FileSlot never_opened() const { return static_cast<FileSlot>(free_.size()); }
  // Numbers are below this.
  std::size_t size() const { return free_.size() + 1; }

 private:
  FileSlot take();
  void give_back(FileSlot slot);

  std::vector<FileSlot> renamed_;
  std::vector<FileSlot> free_;  // a ring
  std::size_t next_ = 0, count_;
};

}  // namespace filereel
