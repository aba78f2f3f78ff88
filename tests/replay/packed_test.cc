#include "replay/results/packed.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "filesets/system/random.h"

namespace filereel {
namespace {

Histogram varied_histogram(int values) {
  Random random(9);
  Histogram histogram;
  for (int i = 0; i < values; ++i) {
    histogram.record(static_cast<std::uint64_t>(std::exp(random.uniform() * 25)));
  }
  return histogram;
}

TEST_CASE("a histogram is restored from its text") {
  for (const int values : {0, 1, 2, 100, 100'000}) {
    const Histogram histogram = varied_histogram(values);
    const std::string text = pack_histogram(histogram);
    CHECK(unpack_histogram(text, histogram.max(), histogram.total()) == histogram);
  }
}

TEST_CASE("a text is short") {
  CHECK(pack_histogram(varied_histogram(1)).size() < 80);
  CHECK(pack_histogram(varied_histogram(1'000'000)).size() < 8'000);
}

// Made with Python's hdrhistogram 0.10: HdrHistogram(1, 2**40 - 1, 2) with 42, 1000, 123456 and
// 10^9. The other one is of the tests of HdrHistogram_go, and has three digits.
TEST_CASE("texts of other implementations are read where the buckets are the same") {
  Histogram same;
  for (const std::uint64_t value : {42U, 1000U, 123'456U, 1'000'000'000U}) same.record(value);
  CHECK(unpack_histogram("HISTFAAAACl4nJNpmSzMwMDAzQABTFCaEYj/g4D9B4hAMNNcdqbXvEzfJZkA1v0Khg==",
                         same.max(), same.total()) == same);
  CHECK_THROWS_AS(unpack_histogram("HISTFAAAAB542pNpmSzMwMDAxAABzFCaEUoz2X+AMIKZAEARAtM=", 0, 0),
                  Error);
}

TEST_CASE("the largest counts survive") {
  std::vector<std::uint64_t> numbers = {
      0, std::numeric_limits<std::int64_t>::max(), 1, 0, 0, 127, 128, std::uint64_t{1} << 56, 0, 3};
  CHECK(unpack_numbers(pack_numbers(numbers), numbers.size()) == numbers);
}

TEST_CASE("zeros at the end are left out, and more numbers than asked for are refused") {
  const std::vector<std::uint64_t> numbers = {5, 0, 0, 7, 0, 0};
  CHECK(unpack_numbers(pack_numbers(numbers), 6) == std::vector<std::uint64_t>{5, 0, 0, 7});
  CHECK_THROWS_AS(unpack_numbers(pack_numbers(numbers), 3), Error);
}

TEST_CASE("invalid histograms are refused") {
  const std::string good = pack_histogram(varied_histogram(1'000));
  for (const std::string& bad :
       {std::string(), std::string("HIST"), std::string("!!!!"), good.substr(0, good.size() / 2),
        "A" + good.substr(1), good + good}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(unpack_histogram(bad, 1, 1), Error);
  }
}

TEST_CASE("a course is restored from its texts") {
  Random random(4);
  TimeGrid grid;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    grid.record(i * 1'000'000, Histogram::bucket(random.below(1'000'000'000)), random.below(9'000),
                i % 7 == 0);
  }
  const TimeGrid back = unpack_course(pack_course(grid));
  CHECK(back.width_ns() == grid.width_ns());
  REQUIRE(back.intervals().size() == grid.intervals().size());
  for (std::size_t i = 0; i < grid.intervals().size(); ++i) {
    CHECK(back.intervals()[i].operations == grid.intervals()[i].operations);
    CHECK(back.intervals()[i].bytes == grid.intervals()[i].bytes);
    CHECK(back.intervals()[i].syncs == grid.intervals()[i].syncs);
  }
}

TEST_CASE("impossible courses are refused") {
  TimeGrid grid;
  grid.record(5, 1000, 4096, false);
  const Course good = pack_course(grid);
  Course wide = good, odd = good, many = good;
  wide.intervals = 0;
  odd.interval_s = 0.015;
  many.intervals = TimeGrid::kIntervals + 1;
  CHECK_THROWS_AS(unpack_course(wide), Error);
  CHECK_THROWS_AS(unpack_course(odd), Error);
  CHECK_THROWS_AS(unpack_course(many), Error);
}

}  // namespace
}  // namespace filereel
