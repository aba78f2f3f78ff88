#include <doctest/doctest.h>

#include "replay/engine/lane.h"

namespace filereel {
namespace {

TEST_CASE("time of the replay between calls is a part of the recorded work") {
  WorkBalance balance;
  balance.begin(1'000, 0);
  balance.settle(1'500, 200);  // 500 ns passed, 200 of them in calls
  CHECK(balance.owed_ns() == -300);
  balance.owe(1'000);
  CHECK(balance.owed_ns() == 700);
  balance.skip(9'000, 200);  // a wait
  CHECK(balance.owed_ns() == 700);
  balance.settle(9'100, 200);
  CHECK(balance.owed_ns() == 600);
}

TEST_CASE("work in excess is limited, and calls in flight together are no negative work") {
  WorkBalance balance;
  balance.begin(0, 0);
  balance.settle(10'000'000, 0);
  CHECK(balance.owed_ns() == -200'000);
  balance.begin(0, 0);
  balance.settle(100, 1'000);
  CHECK(balance.owed_ns() == 0);
}

}  // namespace
}  // namespace filereel
