#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "replay/schedule/dependencies.h"

namespace filereel {

TEST_CASE("a lane reuses its own numbers, the oldest first") {
  SlotRenaming slots(2, 8, 2);
  const FileSlot a = slots.opened(0, 0);
  const FileSlot b = slots.opened(1, 0);
  CHECK(slots.used(0) == a);
  CHECK(slots.closed(1, 0) == b);
  CHECK(slots.closed(0, 0) == a);
  CHECK(slots.used(0) == slots.never_opened());
  CHECK(slots.opened(0, 0) == b);
  CHECK(slots.opened(1, 0) == a);
}

TEST_CASE("a lane takes unused numbers before those freed by other lanes") {
  SlotRenaming slots(1, 2, 3);
  const FileSlot first = slots.opened(0, 0);
  slots.closed(0, 0);
  const FileSlot second = slots.opened(0, 1);
  CHECK(second != first);
  slots.closed(0, 1);
  std::set<FileSlot> taken = {first, second};
  for (int i = 0; i < 2; ++i) {  // what lane 2 opens, lane 0 closes
    taken.insert(slots.opened(0, 2));
    slots.closed(0, 0);
  }
  CHECK(taken.size() == 4);
  CHECK(slots.opened(0, 2) == first);
  slots.closed(0, 2);
  CHECK(slots.opened(0, 1) == second);
}

TEST_CASE("concurrently open numbers are distinct and below the size") {
  constexpr FileSlot kOpen = 5;
  constexpr std::uint32_t kLanes = 3;
  for (const std::size_t spare : {0U, 1U, 7U}) {
    SlotRenaming slots(kOpen, spare, kLanes);
    std::vector<bool> open(kOpen);
    std::uint32_t random = 1;
    for (int i = 0; i < 20'000; ++i) {
      random = random * 1664525 + 1013904223;
      const FileSlot slot = (random >> 8) % kOpen;
      const std::uint32_t lane = (random >> 16) % kLanes;
      if (open[slot]) {
        slots.closed(slot, lane);
      } else {
        slots.opened(slot, lane);
      }
      open[slot] = !open[slot];
      const FileSlot failed = slots.failed(lane);
      std::set<FileSlot> numbers = {failed};
      std::size_t count = 1;
      for (FileSlot file_slot = 0; file_slot < kOpen; ++file_slot) {
        REQUIRE((slots.used(file_slot) != slots.never_opened()) == open[file_slot]);
        if (!open[file_slot]) continue;
        numbers.insert(slots.used(file_slot));
        ++count;
      }
      REQUIRE(numbers.size() == count);
      REQUIRE(*numbers.rbegin() < slots.never_opened());
    }
  }
}

TEST_CASE("files that are not open have the number that is never opened") {
  SlotRenaming slots(1, 1, 1);
  CHECK(slots.used(0) == slots.never_opened());
  CHECK(slots.closed(0, 0) == slots.never_opened());
  CHECK(slots.closed(9, 0) == slots.never_opened());
  CHECK(slots.used(9) == slots.never_opened());
  CHECK(slots.opened(9, 0) < slots.never_opened());
  CHECK(slots.never_opened() < slots.size());
}

}  // namespace filereel
