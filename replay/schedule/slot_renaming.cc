// A number is in two lists while it is free: of all free numbers, and of those freed by the same
// lane. Both are in the order of freeing and are linked through one array, so that each step takes
// constant time and no memory. The number freed first is taken first, because its close is the most
// likely one to be complete when the open begins. The first of all is therefore the first of its
// lane, too, which take_out() relies on.
//
// Sizes: a number for each open file of the trace, the spare ones, one for opens that fail while
// all others are in use, and never_opened(), which is in no list. With these, take() always finds
// one.
#include "replay/schedule/slot_renaming.h"

#include <utility>

namespace filereel {

// One more than can be open, for opens that fail.
SlotRenaming::SlotRenaming(std::size_t slots, std::size_t spare, std::size_t lanes)
    : numbers_(slots + spare + 2), free_of_lane_(lanes) {
  renamed_.assign(slots, never_opened());
}

FileSlot SlotRenaming::opened(FileSlot slot, std::uint32_t lane) {
  if (slot >= renamed_.size()) return failed(lane);
  if (renamed_[slot] != never_opened()) give_back(renamed_[slot], lane);
  return renamed_[slot] = take(lane);
}

FileSlot SlotRenaming::closed(FileSlot slot, std::uint32_t lane) {
  if (slot >= renamed_.size()) return never_opened();
  const FileSlot was = std::exchange(renamed_[slot], never_opened());
  if (was != never_opened()) give_back(was, lane);
  return was;
}

FileSlot SlotRenaming::failed(std::uint32_t lane) {
  const FileSlot number = take(lane);
  give_back(number, lane);
  return number;
}

FileSlot SlotRenaming::take(std::uint32_t lane) {
  FileSlot number = free_of_lane_[lane].first;
  if (number == kNone) {
    if (unused_ != never_opened()) return unused_++;
    number = free_.first;
  }
  take_out(number);
  return number;
}

// `number` is the first free one of its lane.
void SlotRenaming::take_out(FileSlot number) {
  const Number& it = numbers_[number];
  Ends& own = free_of_lane_[it.lane];
  own.first = it.after_in_lane;
  if (own.first == kNone) own.last = kNone;
  (it.before == kNone ? free_.first : numbers_[it.before].after) = it.after;
  (it.after == kNone ? free_.last : numbers_[it.after].before) = it.before;
}

void SlotRenaming::give_back(FileSlot number, std::uint32_t lane) {
  Ends& own = free_of_lane_[lane];
  numbers_[number] = {.before = free_.last, .lane = lane};
  (free_.last == kNone ? free_.first : numbers_[free_.last].after) = number;
  (own.last == kNone ? own.first : numbers_[own.last].after_in_lane) = number;
  free_.last = own.last = number;
}

}  // namespace filereel
