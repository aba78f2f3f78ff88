#include "replay/measure/time_series.h"

#include <algorithm>
#include <cstdint>

#include <doctest/doctest.h>

namespace filereel {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

struct Sum {
  std::uint64_t operations = 0, bytes = 0, total_ns = 0, max_ns = 0;
  explicit Sum(const TimeSeries& series) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      operations += series[i].operations;
      bytes += series[i].bytes;
      total_ns += series[i].total_ns;
      max_ns = std::max(max_ns, series[i].max_ns);
    }
  }
};

TEST_CASE("operations are counted in the interval in which they end") {
  TimeSeries series;
  CHECK(series.size() == 0);
  CHECK(series.width_ns() == TimeSeries::kFinestNs);
  series.record(0, 100, 4096);
  series.record(9'999'999, 300, 1);
  series.record(10 * kMillisecond, 50, 2);
  REQUIRE(series.size() == 2);
  CHECK(series[0].operations == 2);
  CHECK(series[0].bytes == 4097);
  CHECK(series[0].total_ns == 400);
  CHECK(series[0].max_ns == 300);
  CHECK(series[1].operations == 1);
  CHECK(series[1].bytes == 2);
}

TEST_CASE("a longer replay has wider intervals and loses nothing") {
  TimeSeries series;
  for (std::uint64_t ms = 0; ms < 100'000; ms += 5) series.record(ms * kMillisecond, ms, 1);
  CHECK(series.width_ns() == 32 * TimeSeries::kFinestNs);
  CHECK(series.size() == 100'000 / 320 + 1);
  const Sum sum(series);
  CHECK(sum.operations == 20'000);
  CHECK(sum.bytes == 20'000);
  CHECK(sum.max_ns == 99'995);
  CHECK(series[0].operations == 64);
}

TEST_CASE("any time has its interval") {
  TimeSeries series;
  series.record(1, 1, 1);
  series.record(UINT64_MAX, 2, 1);
  CHECK(series.size() <= TimeSeries::kIntervals);
  CHECK(Sum(series).operations == 2);
  CHECK(series[0].operations == 1);
}

TEST_CASE("series of several threads are added up at the width of the widest") {
  TimeSeries narrow, wide;
  for (std::uint64_t i = 0; i < 100; ++i) narrow.record(i * 10 * kMillisecond, i, 1);
  wide.record(60'000 * kMillisecond, 7, 3);
  SUBCASE("narrow into wide") {
    wide.merge(narrow);
    CHECK(wide.width_ns() == 160 * kMillisecond);
    CHECK(wide[0].operations == 16);
    CHECK(Sum(wide).operations == 101);
    CHECK(wide.size() == 60'000 / 160 + 1);
  }
  SUBCASE("wide into narrow") {
    narrow.merge(wide);
    CHECK(narrow.width_ns() == 160 * kMillisecond);
    CHECK(narrow[0].operations == 16);
    CHECK(narrow[0].max_ns == 15);
    CHECK(Sum(narrow).bytes == 103);
    CHECK(narrow.size() == 60'000 / 160 + 1);
  }
}

}  // namespace
}  // namespace filereel
