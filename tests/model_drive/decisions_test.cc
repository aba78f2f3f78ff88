#include "tests/model_drive/decisions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kDraws = 100'000;

Script script_with(const std::string& rest) {
  return read_script("size: 64 MiB\n" + rest, "drive.yaml");
}

// The latencies of the first reads, ascending.
std::vector<double> sorted_latencies(const Script& script) {
  std::vector<double> found;
  for (std::uint64_t n = 1; n <= kDraws; ++n) {
    found.push_back(static_cast<double>(decide(script, Kind::read, n, 4096).latency_ns));
  }
  std::ranges::sort(found);
  return found;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))];
}

bool same(const Decision& a, const Decision& b) {
  return a.latency_ns == b.latency_ns && a.stall_ns == b.stall_ns && a.stalls == b.stalls;
}

}  // namespace

// All draws here have a seed, so that these figures are the same everywhere and always.

TEST_CASE("a lognormal latency has its median and its spread") {
  const auto found = sorted_latencies(script_with("read: {latency: {median: 200us, sigma: 0.3}}"));
  CHECK(at_share(found, 0.5) == doctest::Approx(200e3).epsilon(0.005));
  // exp(0.3 z) with z of 99 % and 1 %
  CHECK(at_share(found, 0.99) == doctest::Approx(200e3 * std::exp(0.3 * 2.326348)).epsilon(0.01));
  CHECK(at_share(found, 0.01) == doctest::Approx(200e3 * std::exp(-0.3 * 2.326348)).epsilon(0.01));
  double sum = 0, squares = 0;
  for (const double ns : found) {
    sum += std::log(ns);
    squares += std::log(ns) * std::log(ns);
  }
  const double mean = sum / kDraws;
  CHECK(std::sqrt(squares / kDraws - mean * mean) == doctest::Approx(0.3).epsilon(0.005));
}

TEST_CASE("a lognormal latency has no end beyond the longest time") {
  const Script script = script_with("read: {latency: {median: 1h, sigma: 10}}");
  std::uint64_t longest = 0;
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    longest = std::max(longest, decide(script, Kind::read, n, 0).latency_ns);
  }
  CHECK(longest == kLongestNs);
}

TEST_CASE("a uniform latency lies between its ends and is even") {
  const auto found = sorted_latencies(script_with("read: {latency: {min: 100us, max: 300us}}"));
  CHECK(found.front() >= 100e3);
  CHECK(found.back() <= 300e3);
  for (const double share : {0.01, 0.25, 0.5, 0.75, 0.99}) {
    CHECK(at_share(found, share) == doctest::Approx(100e3 + 200e3 * share).epsilon(0.01));
  }
}

TEST_CASE("a uniform latency reaches both ends") {
  const Script script = script_with("read: {latency: {min: 5ns, max: 7ns}}");
  std::map<std::uint64_t, std::uint64_t> counts;
  for (std::uint64_t n = 1; n <= 3000; ++n) ++counts[decide(script, Kind::read, n, 0).latency_ns];
  REQUIRE(counts.size() == 3);
  for (const auto& [ns, count] : counts) {
    CAPTURE(ns);
    CHECK(static_cast<double>(count) == doctest::Approx(1000).epsilon(0.1));
  }
}

TEST_CASE("a fixed latency is that of its size class") {
  const Script script =
      script_with("read: {latency: [{up_to: 4KiB, latency: 10us}, {latency: 20us}]}\n");
  CHECK(decide(script, Kind::read, 1, 4096).latency_ns == 10'000);
  CHECK(decide(script, Kind::read, 1, 4097).latency_ns == 20'000);
}

TEST_CASE("a share of operations stalls") {
  const Script script = script_with("stalls: [{kinds: [read], length: 200ms, share: 0.01}]");
  std::uint64_t stalled = 0;
  for (std::uint64_t n = 1; n <= kDraws; ++n) {
    const Decision decision = decide(script, Kind::read, n, 4096);
    CHECK(decision.stall_ns == (decision.stalls == 1 ? 200'000'000 : 0));
    stalled += decision.stalls;
    CHECK(decide(script, Kind::write, n, 4096).stalls == 0);
  }
  CHECK(static_cast<double>(stalled) == doctest::Approx(1000).epsilon(0.1));
}

TEST_CASE("a share of 0 is none and a share of 1 is all") {
  const Script script = script_with("stalls: [{length: 1ms, share: 0}, {length: 1ms, share: 1}]");
  for (std::uint64_t n = 1; n <= 1000; ++n) CHECK(decide(script, Kind::flush, n, 1).stalls == 2);
}

TEST_CASE("each so many operations of a kind one stalls, whatever other kinds do") {
  const Script script = script_with(
      "stalls: [{kinds: [read, write], length: 5ms, every: 3}, {length: 1ms, every: 2}]");
  for (std::uint64_t n = 1; n <= 12; ++n) {
    const std::uint64_t by_three = n % 3 == 0, by_two = n % 2 == 0;
    for (const Kind kind : {Kind::read, Kind::write}) {
      const Decision decision = decide(script, kind, n, 4096);
      CHECK(decision.stalls == (by_three | by_two << 1));
      CHECK(decision.stall_ns == by_three * 5'000'000 + by_two * 1'000'000);
    }
    CHECK(decide(script, Kind::flush, n, 4096).stalls == by_two << 1);
  }
}

TEST_CASE("the same seed decides the same on every thread and in every order") {
  const Script script = script_with(
      "seed: 42\nread: {latency: {median: 1ms, sigma: 1}}\nwrite: {latency: {min: 1us, max: 1s}}\n"
      "stalls: [{length: 1ms, share: 0.3}, {length: 1ms, share: 0.3}]");
  constexpr std::uint64_t kOperations = 1000;
  std::vector<Decision> reads(kOperations), writes(kOperations);
  const auto work = [&](std::uint64_t first) {
    for (std::uint64_t i = kOperations + first; i-- > first;) {
      const std::uint64_t n = i * 7 % kOperations;  // neither ascending nor in the same order
      if (n % 2 == first) reads[n] = decide(script, Kind::read, n + 1, 4096);
      if (n % 2 != first) writes[n] = decide(script, Kind::write, n + 1, 4096);
    }
  };
  {
    const std::jthread one(work, 0), other(work, 1);
  }
  for (std::uint64_t n = 0; n < kOperations; ++n) {
    CHECK(same(reads[n], decide(script, Kind::read, n + 1, 4096)));
    CHECK(same(writes[n], decide(script, Kind::write, n + 1, 4096)));
  }
}

// Worked out by another program, from SplitMix64 and the normal quantiles of Python's statistics.
TEST_CASE("decisions are the same with every compiler and library") {
  const Script script = script_with(
      "seed: 42\nread: {latency: {median: 1ms, sigma: 1}}\nwrite: {latency: {min: 1us, max: 1s}}\n"
      "stalls: [{length: 1ms, share: 0.3}]");
  std::string found;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    found += std::to_string(decide(script, Kind::read, n, 0).latency_ns) + " " +
             std::to_string(decide(script, Kind::write, n, 0).latency_ns) + " " +
             std::to_string(decide(script, Kind::flush, n, 0).stalls) + "; ";
  }
  CHECK(found ==
        "3067746 534415050 0; 116970 298794939 1; 3086159 761751435 1; 1307336 933835051 0; ");
}

TEST_CASE("another seed, another kind and another rule decide otherwise") {
  const std::string rest =
      "read: {latency: {min: 0, max: 1h}}\nwrite: {latency: {min: 0, max: 1h}}\n"
      "stalls: [{length: 1ms, share: 0.5}, {length: 1ms, share: 0.5}]";
  const Script script = script_with("seed: 1\n" + rest), other = script_with("seed: 2\n" + rest);
  int same_stalls = 0;
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    const Decision read = decide(script, Kind::read, n, 0);
    CHECK(read.latency_ns != decide(script, Kind::write, n, 0).latency_ns);
    CHECK(read.latency_ns != decide(other, Kind::read, n, 0).latency_ns);
    same_stalls += read.stalls == 0 || read.stalls == 3;
  }
  CHECK(same_stalls == doctest::Approx(500).epsilon(0.1));
}

TEST_CASE("what begins in a window of time waits until its end") {
  const Script script =
      script_with("stalls: [{kinds: [read], length: 100ns, at: [1000ns, 1050ns]}]");
  const auto end = [&](std::uint64_t time) { return window_at(script, Kind::read, time).end_ns; };
  CHECK(end(999) == 999);
  CHECK(end(1000) == 1100);
  CHECK(end(1049) == 1100);
  CHECK(end(1050) == 1150);  // in both: the later end
  CHECK(end(1149) == 1150);
  CHECK(end(1150) == 1150);
  CHECK(window_at(script, Kind::read, 1000).stalls == 1);
  CHECK(window_at(script, Kind::read, 1150).stalls == 0);
  CHECK(window_at(script, Kind::write, 1000).end_ns == 1000);
}

TEST_CASE("windows come back after each period, first after one") {
  const Script script = script_with("stalls: [{length: 100ns, period: 1000ns}]");
  const auto end = [&](std::uint64_t time) { return window_at(script, Kind::flush, time).end_ns; };
  CHECK(end(0) == 0);
  CHECK(end(50) == 50);
  CHECK(end(1000) == 1100);
  CHECK(end(1100) == 1100);
  CHECK(end(7099) == 7100);
}

TEST_CASE("of two windows the later end counts") {
  const Script script =
      script_with("stalls: [{length: 300ns, at: [1000ns]}, {length: 100ns, period: 1000ns}]");
  CHECK(window_at(script, Kind::read, 1000).end_ns == 1300);
  CHECK(window_at(script, Kind::read, 1000).stalls == 3);
  CHECK(window_at(script, Kind::read, 1200).stalls == 1);
}

}  // namespace filereel::model_drive
