#include "tools/cli/live.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kStart = 100 * kSecond;

// A replay that finishes operations of 1 ms and 4 KiB.
class Hand {
 public:
  void add(int operations, std::uint64_t latency_ns = 1'000'000) {
    for (int i = 0; i < operations; ++i) look.latency.record(latency_ns);
    look.operations += static_cast<std::uint64_t>(operations);
    look.bytes += 4096 * static_cast<std::uint64_t>(operations);
  }
  void restart() {
    look.latency.clear();
    look.operations = look.bytes = 0;
  }

  ProgressSnapshot look;
};

// One that has no warm-up and has begun.
Hand begun() {
  Hand hand;
  hand.look.times.start_ns = hand.look.times.measured_ns = kStart;
  return hand;
}

void check_near(std::uint64_t value, std::uint64_t wanted) {
  CHECK(value >= wanted);
  CHECK(value <= wanted + wanted / 100);
}

TEST_CASE("the figures of an interval are those of what was finished in it") {
  Hand hand = begun();
  hand.add(1000, 50'000'000);
  const ProgressSnapshot earlier = hand.look;
  hand.add(98, 1'000'000);
  hand.add(2, 9'000'000);
  const LiveFigures figures = figures_between(earlier, hand.look, 0.5);
  CHECK(figures.operations == 100);
  CHECK(figures.bytes == 409'600);
  CHECK(figures.operations_per_s() == 200);
  CHECK(figures.mb_per_s() == doctest::Approx(0.8192));
  check_near(figures.p50_ns, 1'000'000);
  check_near(figures.p99_ns, 9'000'000);
  check_near(figures.max_ns, 9'000'000);
}

TEST_CASE("an interval without operations has no latencies") {
  Hand hand = begun();
  hand.add(10);
  const LiveFigures figures = figures_between(hand.look, hand.look, 1);
  CHECK(figures.operations == 0);
  CHECK(figures.operations_per_s() == 0);
  CHECK(figures.max_ns == 0);
  CHECK(figures_between({}, {}, 0).mb_per_s() == 0);
}

TEST_CASE("counters that began anew count from zero") {
  Hand hand = begun();
  hand.add(1000);
  const ProgressSnapshot earlier = hand.look;
  hand.restart();
  hand.add(3);
  CHECK(figures_between(earlier, hand.look, 1).operations == 3);
  CHECK(figures_between(earlier, hand.look, 1).bytes == 3 * 4096);
}

TEST_CASE("the last second follows the looks") {
  LastSecond last;
  CHECK_FALSE(last.add({}, kStart));  // nothing runs yet
  Hand hand = begun();
  for (std::uint64_t tenth = 1; tenth <= 30; ++tenth) {
    hand.add(10);
    const auto figures = last.add(hand.look, kStart + tenth * kSecond / 10);
    REQUIRE(figures);
    const std::uint64_t tenths = std::min<std::uint64_t>(tenth, 10);
    CHECK(figures->seconds == doctest::Approx(static_cast<double>(tenths) / 10));
    CHECK(figures->operations == 10 * tenths);
  }
  for (std::uint64_t tenth = 31; tenth <= 40; ++tenth) {
    const auto figures = last.add(hand.look, kStart + tenth * kSecond / 10);
    if (tenth == 40) CHECK(figures->operations == 0);
  }
  hand.look.times.end_ns = kStart + 5 * kSecond;
  CHECK_FALSE(last.add(hand.look, kStart + 5 * kSecond));
}

TEST_CASE("the last second does not reach into the warm-up") {
  LastSecond last;
  Hand hand;
  hand.look.times.start_ns = kStart;
  hand.add(5000);
  CHECK(last.add(hand.look, kStart + kSecond)->operations == 5000);
  hand.look.times.measured_ns = kStart + kSecond + kSecond / 10;
  hand.restart();
  hand.add(5000);  // as many as before: the counters alone would not tell
  const auto figures = last.add(hand.look, kStart + kSecond + kSecond / 5);
  CHECK(figures->operations == 5000);
  CHECK(figures->seconds == doctest::Approx(0.1));
}

TEST_CASE("a replay is cut into seconds of a steady grid") {
  LiveSeconds seconds;
  CHECK_FALSE(seconds.due({}, kStart));
  CHECK(seconds.take({}, kStart).empty());
  Hand hand = begun();
  CHECK(seconds.due(hand.look.times, kStart + 50));
  CHECK(seconds.take(hand.look, kStart + 50).empty());
  CHECK(seconds.next_ns() == kStart + kSecond);
  CHECK_FALSE(seconds.due(hand.look.times, kStart + kSecond - 1));
  hand.add(7);
  constexpr std::uint64_t kLate = 2'000'000;
  const auto first = seconds.take(hand.look, kStart + kSecond + kLate);
  REQUIRE(first.size() == 1);
  CHECK(first[0].part == LivePart::measured);
  CHECK(first[0].end_ns == kStart + kSecond + kLate);
  CHECK(first[0].figures.operations == 7);
  CHECK(seconds.next_ns() == kStart + 2 * kSecond);
  const auto stall = seconds.take(hand.look, kStart + 2 * kSecond);
  REQUIRE(stall.size() == 1);
  CHECK(stall[0].figures.operations == 0);
  CHECK(stall[0].figures.seconds == doctest::Approx(0.998));
  // Whoever could not look for long gets one long interval.
  hand.add(5);
  const auto late = seconds.take(hand.look, kStart + 5 * kSecond);
  REQUIRE(late.size() == 1);
  CHECK(late[0].figures.seconds == 3);
  CHECK(seconds.next_ns() == kStart + 6 * kSecond);
}

TEST_CASE("the last interval of a part ends with it") {
  LiveSeconds seconds;
  Hand hand = begun();
  seconds.take(hand.look, kStart);
  hand.add(9);
  hand.look.times.end_ns = kStart + kSecond / 4;
  CHECK(seconds.due(hand.look.times, kStart + kSecond / 3));
  const auto rest = seconds.take(hand.look, kStart + kSecond / 3);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].end_ns == kStart + kSecond / 4);
  CHECK(rest[0].figures.operations == 9);
  CHECK(rest[0].figures.seconds == 0.25);
  CHECK_FALSE(seconds.due(hand.look.times, kStart + kSecond));
  hand.look.times.durable_ns = kStart + 3 * kSecond / 4;
  const auto flush = seconds.take(hand.look, kStart + kSecond);
  REQUIRE(flush.size() == 1);
  CHECK(flush[0].part == LivePart::flush);
  CHECK(flush[0].figures.operations == 0);
  CHECK(flush[0].figures.seconds == 0.5);
  CHECK_FALSE(seconds.due(hand.look.times, kStart + 9 * kSecond));
  CHECK(seconds.take(hand.look, kStart + 9 * kSecond).empty());
}

TEST_CASE("a replay that was over before anybody looked is told as a whole") {
  LiveSeconds seconds;
  Hand hand = begun();
  hand.add(3);
  hand.look.times.end_ns = kStart + 20;
  hand.look.times.durable_ns = kStart + 50;
  CHECK(seconds.due(hand.look.times, kStart + 60));
  const auto all = seconds.take(hand.look, kStart + 60);
  REQUIRE(all.size() == 2);
  CHECK(all[0].figures.operations == 3);
  CHECK(all[1].part == LivePart::flush);
}

TEST_CASE("what is measured begins anew after a warm-up, whose last rest is left out") {
  LiveSeconds seconds;
  Hand hand;
  hand.look.times.start_ns = kStart;
  seconds.take(hand.look, kStart);
  hand.add(400);
  const auto warm_up = seconds.take(hand.look, kStart + kSecond);
  REQUIRE(warm_up.size() == 1);
  CHECK(warm_up[0].part == LivePart::warm_up);
  CHECK(warm_up[0].figures.operations == 400);
  hand.restart();
  hand.look.times.measured_ns = kStart + 3 * kSecond / 2;
  hand.add(600);  // more than before: the counters alone would not tell
  CHECK(seconds.due(hand.look.times, hand.look.times.measured_ns + 10));
  CHECK(seconds.take(hand.look, hand.look.times.measured_ns + 10).empty());
  const auto measured = seconds.take(hand.look, hand.look.times.measured_ns + kSecond);
  REQUIRE(measured.size() == 1);
  CHECK(measured[0].part == LivePart::measured);
  CHECK(measured[0].figures.operations == 600);
  CHECK(measured[0].figures.seconds == 1);
}

LiveInterval interval(std::uint64_t operations) {
  LiveInterval live_interval{LivePart::measured, kStart, {.seconds = 1, .operations = operations}};
  if (operations == 0) return live_interval;
  live_interval.figures.bytes = 123'400'000;
  live_interval.figures.p50_ns = 12'000;
  live_interval.figures.p99_ns = 1'200'000;
  live_interval.figures.max_ns = 33'300'000;
  return live_interval;
}

TEST_CASE("a line shows a second, dashes where nothing was finished") {
  CHECK(live_line(interval(8120), 12) ==
        "   12.0 s   8120 ops/s    123 MB/s  p50   12 µs  p99  1.2 ms  max 33.3 ms");
  CHECK(live_line(interval(0), 13) ==
        "   13.0 s      0 ops/s      - MB/s  p50       -  p99       -  max       -");
  LiveInterval flush = interval(0);
  flush.part = LivePart::flush;
  CHECK(live_line(flush, 14) == "   14.0 s  flushing");
}

TEST_CASE("lines fit a terminal of 80 columns") {
  LiveInterval wide = interval(99'900'000);
  wide.figures.bytes = 99'999'000'000;
  wide.figures.p50_ns = wide.figures.p99_ns = wide.figures.max_ns = 999'000'000;
  CHECK(live_line(wide, 99'999).size() < 80);
}

TEST_CASE("a line of JSON says what was measured and when") {
  StepInfo step;
  step.job = "fc-test";
  step.of_set = step.set = "programs";
  step.operation = "create";
  step.file_system = "ext4";
  step.run = 2;
  CHECK(live_json(step, interval(8120), 12) ==
        R"({"t_s":12.0,"interval_s":1.0,"part":"measured","job":"fc-test","set":"programs",)"
        R"("operation":"create","file_system":"ext4","run":2,"operations":8120,)"
        R"("bytes":123400000,"mb_per_s":123.4,"p50_us":12.0,"p99_us":1200.0,"max_us":33300.0})"
        "\n");
}

TEST_CASE("a line of JSON names the point, the volume and what is no measurement") {
  StepInfo step;
  step.job = "random-read";
  step.operation = "fill";
  step.point = {{"depth", "4"}};
  step.volume = "/dev/sdb";
  step.measured = false;
  CHECK(live_json(step, interval(0), 0.5) ==
        R"({"t_s":0.5,"interval_s":1.0,"part":"preparation","job":"random-read",)"
        R"("point":{"depth":"4"},"operation":"fill","file_system":"none","volume":"/dev/sdb",)"
        R"("run":1,"operations":0,"bytes":0,"mb_per_s":0.0})"
        "\n");
}

}  // namespace
}  // namespace filereel
