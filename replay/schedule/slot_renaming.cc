#include "replay/schedule/slot_renaming.h"

#include <numeric>
#include <utility>

namespace filereel {

SlotRenaming::SlotRenaming(std::size_t slots, std::size_t spare)
    : free_(slots + spare + 1), count_(free_.size()) {
  renamed_.assign(slots, never_opened());
  std::iota(free_.begin(), free_.end(), FileSlot{0});
}

FileSlot SlotRenaming::opened(FileSlot slot) {
  if (slot >= renamed_.size()) return failed();
  if (renamed_[slot] != never_opened()) give_back(renamed_[slot]);
  return renamed_[slot] = take();
}

FileSlot SlotRenaming::closed(FileSlot slot) {
  if (slot >= renamed_.size()) return never_opened();
  const FileSlot was = std::exchange(renamed_[slot], never_opened());
  if (was != never_opened()) give_back(was);
  return was;
}

// There is one more than can be open.
FileSlot SlotRenaming::failed() {
  const FileSlot slot = take();
  give_back(slot);
  return slot;
}

FileSlot SlotRenaming::take() {
  const FileSlot slot = free_[next_];
  next_ = (next_ + 1) % free_.size();
  --count_;
  return slot;
}

void SlotRenaming::give_back(FileSlot slot) {
  free_[(next_ + count_) % free_.size()] = slot;
  ++count_;
}

}  // namespace filereel
