#include "tests/model_drive/heat.h"

#include <doctest/doctest.h>

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr Temperature kWarm{.idle = 35,
                            .hottest = 85,
                            .at = 200'000'000,
                            .half_time_ns = 20'000 * kMs,
                            .throttle = {.above = 75, .below = 70, .to = 300}};

// Transfers of 1 MB, one after another.
std::uint64_t transfer_until(Heat& heat, std::uint64_t begin_ns, std::uint64_t end_ns,
                             std::uint64_t each_ns) {
  for (; begin_ns < end_ns; begin_ns += each_ns) heat.add(1'000'000, begin_ns, begin_ns + each_ns);
  return begin_ns;
}

}  // namespace

TEST_CASE("at the rate for it a drive becomes as hot as it gets, half of the way in a half-time") {
  Heat heat(kWarm, 1000 * kMs);
  CHECK(heat.celsius() == 35);
  transfer_until(heat, 1000 * kMs, 21'000 * kMs, 5 * kMs);
  CHECK(heat.celsius() == doctest::Approx(60).epsilon(1e-9));
  transfer_until(heat, 21'000 * kMs, 41'000 * kMs, 5 * kMs);
  CHECK(heat.celsius() == doctest::Approx(72.5).epsilon(1e-9));
  transfer_until(heat, 41'000 * kMs, 1'001'000 * kMs, 5 * kMs);
  CHECK(heat.celsius() == doctest::Approx(85).epsilon(1e-9));
}

TEST_CASE("the size of transfers, and whether they are at the same time, makes no difference") {
  Heat large(kWarm, 0), two(kWarm, 0), tiny(kWarm, 0);
  large.add(4'000'000'000, 0, 20'000 * kMs);
  CHECK(large.celsius() == doctest::Approx(60).epsilon(1e-9));
  two.add(2'000'000'000, 0, 20'000 * kMs);
  CHECK(two.celsius() == doctest::Approx(47.5).epsilon(1e-9));
  two.add(2'000'000'000, 0, 20'000 * kMs);
  CHECK(two.celsius() == doctest::Approx(60).epsilon(1e-9));
  for (std::uint64_t i = 0; i < 1'000'000; ++i) tiny.add(4000, i * 20'000, i * 20'000 + 20'000);
  CHECK(tiny.celsius() == doctest::Approx(60).epsilon(1e-9));
}

TEST_CASE("a transfer without duration warms as well") {
  Heat heat(kWarm, 0);
  heat.add(1'000'000, 0, 0);
  CHECK(heat.celsius() == doctest::Approx(35 + 50 * 0.693147 * 5 / 20'000));
}

TEST_CASE("a drive cools towards idle, and has half of the way left after a half-time") {
  Heat heat(kWarm, 0);
  heat.add(4'000'000'000, 0, 20'000 * kMs);
  heat.cool_until(40'000 * kMs);
  CHECK(heat.celsius() == doctest::Approx(47.5).epsilon(1e-9));
  heat.cool_until(60'000 * kMs);
  CHECK(heat.celsius() == doctest::Approx(41.25).epsilon(1e-9));
  heat.cool_until(30'000 * kMs);  // its time does not go back
  CHECK(heat.celsius() == doctest::Approx(41.25).epsilon(1e-9));
  heat.cool_until(UINT64_MAX);
  CHECK(heat.celsius() == 35);
}

TEST_CASE("a hot drive is throttled until it is cooler than it was when it began") {
  Heat heat(kWarm, 0);
  // 35 + 50 (1 - 2^(-t / 20 s)) is 75 at t = 20 s * log2(5) = 46.4386 s.
  std::uint64_t time = transfer_until(heat, 0, 46'435 * kMs, 5 * kMs);
  CHECK(time == 46'435 * kMs);
  CHECK_FALSE(heat.throttles(time));
  time = transfer_until(heat, time, 46'440 * kMs, 5 * kMs);
  CHECK(heat.throttles(time));
  CHECK(heat.celsius() == doctest::Approx(75).epsilon(1e-4));
  // At 60 MB/s it approaches 50: from 75 it is at 70 after 20 s * log2(25 / 20) = 6.4386 s.
  transfer_until(heat, time, time + 6'400 * kMs, 50 * kMs / 3);
  CHECK(heat.throttles(time + 6'420 * kMs));
  CHECK(heat.celsius() == doctest::Approx(70.02).epsilon(1e-3));
  CHECK_FALSE(heat.throttles(time + 6'500 * kMs));
  heat.add(400'000'000, time + 6'500 * kMs, time + 8'500 * kMs);
  CHECK(heat.celsius() > 70);
  CHECK_FALSE(heat.throttles(time + 8'500 * kMs));
}

TEST_CASE("a transfer that keeps a hot drive warm keeps it throttled") {
  Heat heat(kWarm, 0);
  heat.add(20'000'000'000, 0, 46'440 * kMs);
  std::uint64_t time = 46'440 * kMs;
  REQUIRE(heat.throttles(time));
  // Without it, the drive would be far below 70 at its end. At 150 MB/s it approaches 72.5.
  heat.add(15'000'000'000, time, time + 100'000 * kMs);
  CHECK(heat.celsius() > 70);
  CHECK(heat.throttles(time + 100'000 * kMs));
}

TEST_CASE("another script finds the same temperature and has its own limits") {
  Heat heat(kWarm, 0);
  heat.add(4'000'000'000, 0, 20'000 * kMs);  // 60
  Temperature other{.idle = 50,
                    .hottest = 60,
                    .at = 1'000'000'000,
                    .half_time_ns = 10'000 * kMs,
                    .throttle = {.above = 55, .below = 52, .to = 300}};
  heat.cool_until(40'000 * kMs);
  heat.replace(other);
  CHECK(heat.celsius() == doctest::Approx(47.5).epsilon(1e-9));
  CHECK_FALSE(heat.throttles(40'000 * kMs));
  heat.cool_until(50'000 * kMs);  // from below
  CHECK(heat.celsius() == doctest::Approx(48.75).epsilon(1e-9));
  heat.replace(kWarm);
  heat.add(8'000'000'000, 50'000 * kMs, 70'000 * kMs);
  CHECK(heat.throttles(70'000 * kMs));  // 35 + 13.75 / 2 + 50
  CHECK(heat.celsius() == doctest::Approx(91.875).epsilon(1e-9));
  other.throttle.above = 95;
  other.throttle.below = 93;
  heat.replace(other);
  CHECK_FALSE(heat.throttles(70'000 * kMs));
}

}  // namespace filereel::model_drive
