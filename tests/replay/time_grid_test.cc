#include <algorithm>
#include <cstdint>
#include <numeric>

#include <doctest/doctest.h>

#include "replay/measure/histogram.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

void record(TimeGrid& grid, std::uint64_t at_ns, std::uint64_t latency_ns, std::uint64_t bytes,
            bool syncs = false) {
  grid.record(at_ns, Histogram::bucket(latency_ns), bytes, syncs);
}

std::uint64_t operations_of(const TimeGrid::Interval& interval) {
  return std::accumulate(interval.operations.begin(), interval.operations.end(), std::uint64_t{0});
}

struct Sum {
  std::uint64_t operations = 0, bytes = 0, syncs = 0;
  explicit Sum(const TimeGrid& grid) {
    for (const TimeGrid::Interval& interval : grid.intervals()) {
      operations += operations_of(interval);
      bytes += interval.bytes;
      syncs += interval.syncs;
    }
  }
};

std::size_t bin_of(std::uint64_t latency_ns) {
  return Histogram::bucket(latency_ns) >> TimeGrid::kBucketBits;
}

TEST_CASE("operations are counted in the interval in which they end") {
  TimeGrid grid;
  CHECK(grid.intervals().empty());
  CHECK(grid.width_ns() == TimeGrid::kFinestNs);
  record(grid, 0, 100, 4096);
  record(grid, 9'999'999, 3000, 1, true);
  record(grid, 10 * kMillisecond, 50, 2);
  REQUIRE(grid.intervals().size() == 2);
  const TimeGrid::Interval &first = grid.intervals()[0], &second = grid.intervals()[1];
  CHECK(operations_of(first) == 2);
  CHECK(first.operations[bin_of(100)] == 1);
  CHECK(first.operations[bin_of(3000)] == 1);
  CHECK(first.bytes == 4097);
  CHECK(first.syncs == 1);
  CHECK(operations_of(second) == 1);
  CHECK(second.bytes == 2);
  CHECK(second.syncs == 0);
}

TEST_CASE("bins are two for each power of two and hold every latency") {
  for (std::uint64_t ns = 1; ns < std::uint64_t{1} << 40; ns += 1 + ns / 5) {
    CAPTURE(ns);
    const std::size_t bin = bin_of(ns);
    REQUIRE(bin < TimeGrid::kBins);
    CHECK(TimeGrid::bin_lower_bound(bin) <= ns);
    if (bin + 1 < TimeGrid::kBins) CHECK(TimeGrid::bin_lower_bound(bin + 1) > ns);
    if (ns >= 128 && bin + 2 < TimeGrid::kBins) {
      CHECK(TimeGrid::bin_lower_bound(bin + 2) == 2 * TimeGrid::bin_lower_bound(bin));
    }
  }
}

TEST_CASE("a longer replay has wider intervals and loses nothing") {
  TimeGrid grid;
  for (std::uint64_t ms = 0; ms < 100'000; ms += 5) record(grid, ms * kMillisecond, ms, 1, true);
  CHECK(grid.width_ns() == 64 * TimeGrid::kFinestNs);
  CHECK(grid.intervals().size() == 100'000 / 640 + 1);
  const Sum sum(grid);
  CHECK(sum.operations == 20'000);
  CHECK(sum.bytes == 20'000);
  CHECK(sum.syncs == 20'000);
  CHECK(operations_of(grid.intervals()[0]) == 128);
}

TEST_CASE("any time has its interval") {
  TimeGrid grid;
  record(grid, 1, 1, 1);
  record(grid, UINT64_MAX, 2, 1);
  CHECK(grid.intervals().size() <= TimeGrid::kIntervals);
  CHECK(Sum(grid).operations == 2);
  CHECK(operations_of(grid.intervals()[0]) == 1);
}

TEST_CASE("a cleared grid begins anew with the finest intervals") {
  TimeGrid grid;
  record(grid, 100'000 * kMillisecond, 5, 1);
  grid.clear();
  CHECK(grid.intervals().empty());
  record(grid, 15 * kMillisecond, 5, 7);
  CHECK(grid.width_ns() == TimeGrid::kFinestNs);
  CHECK(grid.intervals().size() == 2);
  CHECK(Sum(grid).bytes == 7);
}

TEST_CASE("grids of several threads are added up at the width of the widest") {
  TimeGrid narrow, wide;
  for (std::uint64_t i = 0; i < 100; ++i) record(narrow, i * 10 * kMillisecond, i, 1);
  record(wide, 60'000 * kMillisecond, 7, 3);
  SUBCASE("narrow into wide") {
    wide.merge(narrow);
    CHECK(wide.width_ns() == 320 * kMillisecond);
    CHECK(operations_of(wide.intervals()[0]) == 32);
    CHECK(Sum(wide).operations == 101);
    CHECK(wide.intervals().size() == 60'000 / 320 + 1);
  }
  SUBCASE("wide into narrow") {
    narrow.merge(wide);
    CHECK(narrow.width_ns() == 320 * kMillisecond);
    CHECK(operations_of(narrow.intervals()[0]) == 32);
    CHECK(Sum(narrow).bytes == 103);
    CHECK(narrow.intervals().size() == 60'000 / 320 + 1);
  }
}

}  // namespace
}  // namespace filereel
