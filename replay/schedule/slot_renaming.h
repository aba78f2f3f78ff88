// Other numbers for the open files of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// Traces take the lowest free number, so that a file often gets the number of one that was closed
// just before; the open would have to wait for that close even where the two have nothing to do
// with each other. Here a lane takes the numbers again that it gave back itself, which it need not
// wait for; then those that nobody had, and there are more than needed; then what others gave back.
// Always the one that was given back first. Works for mappings too.
class SlotRenaming {
 public:
  // Numbers of the trace are below `slots`; `spare` more are used.
  SlotRenaming(std::size_t slots, std::size_t spare, std::size_t lanes);

  FileSlot opened(FileSlot slot, std::uint32_t lane);
  FileSlot used(FileSlot slot) const {
    return slot < renamed_.size() ? renamed_[slot] : never_opened();
  }
  FileSlot closed(FileSlot slot, std::uint32_t lane);
  // Of an open that failed: nobody else has it, and it is free again at once.
  FileSlot failed(std::uint32_t lane);

  // Stands for everything that is not open where it is used.
  FileSlot never_opened() const { return static_cast<FileSlot>(numbers_.size() - 1); }
  // Numbers are below this.
  std::size_t size() const { return numbers_.size(); }

 private:
  static constexpr FileSlot kNone = UINT32_MAX;

  // Neighbours of a free number in the list of all that were given back, in their order, and its
  // successor among those that the same lane gave back.
  struct Number {
    FileSlot before = kNone, after = kNone, after_in_lane = kNone;
    std::uint32_t lane = 0;
  };
  struct Ends {
    FileSlot first = kNone, last = kNone;
  };

  FileSlot take(std::uint32_t lane);
  void take_out(FileSlot number);
  void give_back(FileSlot number, std::uint32_t lane);

  std::vector<FileSlot> renamed_;
  std::vector<Number> numbers_;  // and never_opened() at the end
  FileSlot unused_ = 0;          // nobody had this one and those above
  Ends free_;
  std::vector<Ends> free_of_lane_;
};

}  // namespace filereel
