// Renumbers the open files of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/operation.h"

namespace filereel {

// Traces use the lowest free number, so a file often gets the number of one closed just before. Its
// open would have to wait for that close even if the two are unrelated. Here a lane first reuses
// the numbers that it freed itself, for which it need not wait; then unused numbers, of which there
// are more than needed; then numbers freed by other lanes. Always the one freed first. Works for
// mappings, too.
class SlotRenaming {
 public:
  // Numbers of the trace are below `slots`; `spare` more are used.
  SlotRenaming(std::size_t slots, std::size_t spare, std::size_t lanes);

  FileSlot opened(FileSlot slot, std::uint32_t lane);
  FileSlot used(FileSlot slot) const {
    return slot < renamed_.size() ? renamed_[slot] : never_opened();
  }
  FileSlot closed(FileSlot slot, std::uint32_t lane);
  // For an open that failed: a number used by no other, which is free again at once.
  FileSlot failed(std::uint32_t lane);

  // The number for uses of files that are not open.
  FileSlot never_opened() const { return static_cast<FileSlot>(numbers_.size() - 1); }
  // All numbers are below this.
  std::size_t size() const { return numbers_.size(); }

 private:
  static constexpr FileSlot kNone = UINT32_MAX;

  // A free number's neighbours in the list of all freed numbers, in order, and its successor among
  // those freed by the same lane.
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
  std::vector<Number> numbers_;  // with never_opened() at the end
  FileSlot unused_ = 0;          // this one and those above are unused
  Ends free_;
  std::vector<Ends> free_of_lane_;
};

}  // namespace filereel
