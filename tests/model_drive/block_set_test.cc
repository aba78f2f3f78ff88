#include "tests/model_drive/block_set.h"

#include <iterator>
#include <set>

#include <doctest/doctest.h>

#include "filesets/system/random.h"

namespace filereel::model_drive {

TEST_CASE("a set of blocks counts each block once, and ends with the last") {
  BlockSet set(100);
  CHECK(set.blocks() == 100);
  set.add(10, 75);
  set.add(60, 80);
  CHECK(set.count() == 70);
  CHECK(set.count(0, 11) == 1);
  CHECK(set.count(79, 100) == 1);
  CHECK(set.count(12, 12) == 0);
  set.remove(0, 20);
  CHECK(set.count() == 60);
  set.add(90, 1000);
  CHECK(set.count() == 70);
  CHECK(set.count(0, UINT64_MAX) == 70);
  set.remove(200, 300);
  set.remove(64, 128);
  CHECK(set.count() == 44);
}

TEST_CASE("a set of blocks is what was added and not removed since") {
  constexpr std::uint64_t kBlocks = 300;
  Random random(1);
  BlockSet set(kBlocks);
  std::set<std::uint64_t> wanted;
  for (int step = 0; step < 500; ++step) {
    const std::uint64_t first = random.below(kBlocks), end = first + random.below(kBlocks);
    const bool adds = random.below(2) == 0;
    for (std::uint64_t block = first; block < end && block < kBlocks; ++block) {
      if (adds) wanted.insert(block);
      if (!adds) wanted.erase(block);
    }
    if (adds) set.add(first, end);
    if (!adds) set.remove(first, end);
    REQUIRE(set.count() == wanted.size());
    const std::uint64_t from = random.below(kBlocks), to = from + random.below(kBlocks);
    const auto inside = std::distance(wanted.lower_bound(from), wanted.lower_bound(to));
    REQUIRE(set.count(from, to) == static_cast<std::uint64_t>(inside));
  }
}

}  // namespace filereel::model_drive
