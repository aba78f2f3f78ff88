#include "replay/results/stalls.h"

#include <cstdint>

#include <doctest/doctest.h>

namespace filereel {
namespace {

// 100,000 latencies of `usual` ns, but for a `share` of `slow` ns.
Histogram latencies(std::uint64_t usual, double share, std::uint64_t slow) {
  constexpr double kCount = 100'000;
  Histogram histogram;
  for (int i = 0; i < static_cast<int>(kCount * (1 - share)); ++i) histogram.record(usual);
  for (int i = 0; i < static_cast<int>(kCount * share); ++i) histogram.record(slow);
  return histogram;
}

TEST_CASE("nothing below 10 ms is a stall") {
  CHECK(stall_threshold({}) == kLeastStallNs);
  CHECK(stall_threshold(latencies(100'000, 0.01, 2'000'000)) == kLeastStallNs);
}

TEST_CASE("where slow operations are usual, stalls are slower than those") {
  // A disk: reads of 12 ms, one in a hundred of 40 ms.
  const std::uint64_t threshold = stall_threshold(latencies(12'000'000, 0.02, 40'000'000));
  CHECK(threshold == doctest::Approx(3 * 40e6).epsilon(0.01));
}

TEST_CASE("stalls of up to one operation in a hundred do not hide themselves") {
  const Histogram some = latencies(100'000, 0.008, 200'000'000);
  CHECK(stall_threshold(some) == kLeastStallNs);
  const Stalls stalls = stalls_above(some, stall_threshold(some));
  CHECK(stalls.count == 800);
  CHECK(stalls.seconds == doctest::Approx(160).epsilon(0.004));
}

TEST_CASE("what takes as long as the threshold is no stall") {
  const Histogram all = latencies(kLeastStallNs, 0, 0);
  CHECK(stalls_above(all, kLeastStallNs).count == 0);
}

}  // namespace
}  // namespace filereel
