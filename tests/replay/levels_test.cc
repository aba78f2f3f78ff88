#include "replay/statistics/levels.h"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/random.h"

namespace filereel {
namespace {

constexpr std::size_t kShortestLevel = 10;
constexpr std::uint64_t kSeeds = 20;

// Parts of a series: so many values around a mean.
struct Stretch {
  std::size_t count;
  double mean;
};

// `spread`: a standard deviation, as a share of the mean. `kept`: the part of a deviation that the
// next value inherits.
std::vector<double> series_of(const std::vector<Stretch>& stretches, double spread = 0,
                              std::uint64_t seed = 1, double kept = 0) {
  Random random(seed);
  std::vector<double> series;
  double deviation = 0;
  for (const Stretch& stretch : stretches) {
    for (std::size_t i = 0; i < stretch.count; ++i) {
      const double fresh = normal_quantile(random.uniform()) * std::sqrt(1 - kept * kept);
      deviation = kept * deviation + fresh;
      series.push_back(std::max(0.0, stretch.mean * (1 + spread * deviation)));
    }
  }
  return series;
}

}  // namespace

TEST_CASE("a series without a change has one level, with its mean and interval") {
  CHECK(levels_of({}, kShortestLevel).empty());
  for (const std::size_t count : {1, 2, 3, 4, 50}) {
    const std::vector<Level> levels = levels_of(series_of({{count, 40}}), kShortestLevel);
    REQUIRE(levels.size() == 1);
    CHECK(levels[0].end == count);
    CHECK(levels[0].mean == doctest::Approx(40));
    CHECK(levels[0].interval.high == doctest::Approx(40));
  }
  CHECK(levels_of(std::vector<double>(50, 0.0), kShortestLevel).size() == 1);
}

TEST_CASE("changes are where the mean changes") {
  const auto series = series_of({{6, 200}, {20, 40}, {30, 90}});
  const std::vector<Level> levels = levels_of(series, kShortestLevel);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].end == 6);
  CHECK(levels[1].begin == 6);
  CHECK(levels[1].end == 26);
  CHECK(levels[2].end == 56);
  CHECK(levels[0].mean == doctest::Approx(200));
  CHECK(levels[1].mean == doctest::Approx(40));
  CHECK(levels[2].mean == doctest::Approx(90));
}

TEST_CASE("a value with a part of two levels changes neither mean") {
  const std::vector<Level> levels =
      levels_of(series_of({{6, 200}, {1, 110}, {20, 40}}), kShortestLevel);
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].mean == doctest::Approx(200));
  CHECK(levels[1].mean == doctest::Approx(40));
}

TEST_CASE("noise makes no levels, whether or not values depend on their neighbours") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    for (const double kept : {0.0, 0.7}) {
      CHECK(levels_of(series_of({{500, 60}}, 0.1, seed, kept), kShortestLevel).size() == 1);
    }
  }
}

TEST_CASE("a change is found in noise") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const std::vector<Level> levels =
        levels_of(series_of({{20, 100}, {200, 60}}, 0.1, seed, 0.5), kShortestLevel);
    REQUIRE(levels.size() == 2);
    CHECK(std::abs(static_cast<double>(levels[0].end) - 20) <= 2);
    CHECK(levels[1].mean == doctest::Approx(60).epsilon(0.05));
  }
}

TEST_CASE("the interval contains the mean of values that depend on their neighbours") {
  int contained = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Interval interval = interval_of_mean(series_of({{400, 60}}, 0.1, seed, 0.7));
    contained += interval.low <= 60 && 60 <= interval.high ? 1 : 0;
  }
  CHECK(contained >= 180);  // of 200; 190 are expected without any dependence
}

TEST_CASE("interruptions, transitions and ends belong to the levels around them") {
  const auto ends = [](const std::vector<Stretch>& stretches) {
    std::vector<std::size_t> list;
    for (const Level& level : levels_of(series_of(stretches), kShortestLevel)) {
      list.push_back(level.end);
    }
    return list;
  };
  using Ends = std::vector<std::size_t>;
  CHECK(ends({{40, 100}, {4, 0}, {40, 100}}) == Ends{84});
  CHECK(ends({{40, 100}, {3, 70}, {40, 40}}) == Ends{43, 83});
  CHECK(ends({{40, 100}, {3, 60}, {40, 40}}) == Ends{40, 83});
  CHECK(ends({{40, 100}, {9, 20}}) == Ends{49});
  CHECK(ends({{40, 100}, {10, 20}}) == Ends{40, 50});
  CHECK(ends({{2, 100}, {40, 20}}) == Ends{2, 42});
}

TEST_CASE("a drift is one level that says so") {
  std::vector<double> series;
  for (int i = 0; i < 200; ++i) series.push_back(400 - i);
  const std::vector<Level> levels = levels_of(series, kShortestLevel);
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].first > 380);
  CHECK(levels[0].last < 220);
}

TEST_CASE("a difference below a fifth is none") {
  CHECK(levels_of(series_of({{50, 100}, {50, 81}}), kShortestLevel).size() == 1);
  CHECK(levels_of(series_of({{50, 100}, {50, 79}}), kShortestLevel).size() == 2);
}

}  // namespace filereel
