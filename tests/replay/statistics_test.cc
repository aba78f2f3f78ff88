#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/statistics/rank_tests.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

using Values = std::vector<double>;
using doctest::Approx;

Approx about(double value) {
  return Approx(value).epsilon(1e-9);
}

// Permeability constants of the placenta (Hollander and Wolfe, table 4.1), the example of R's
// wilcox.test.
const Values kAtTerm = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
const Values kEarly = {1.15, 0.88, 0.90, 0.74, 1.21};

Values normal_values(std::mt19937_64& random, std::size_t count, double mean, double deviation) {
  Values values(count);
  std::normal_distribution<double> normal(mean, deviation);
  for (double& value : values) value = normal(random);
  return values;
}

TEST_CASE("quantiles are linear between neighbours, like R's default") {
  const Values values = {7, 1, 3, 10};
  CHECK(median(values) == about(5));
  CHECK(quantile(values, 0) == about(1));
  CHECK(quantile(values, 0.25) == about(2.5));
  CHECK(quantile(values, 0.9) == about(9.1));
  CHECK(quantile(values, 1) == about(10));
  CHECK(median(Values{4}) == about(4));
  CHECK(median(Values{9, 2, 1, 6}, Middle::of_rates) == about(3));
  CHECK(RankedValues(Values{9, 2, 1, 6}, Middle::of_rates).median() == about(3));
  CHECK(RankedValues(Values{9, 2, 1, 6}, Middle::of_rates)
            .median_of(std::vector<std::size_t>{0, 0, 1, 2}) == about(2.0 / (1.0 / 2 + 1.0 / 9)));
  CHECK(geometric_mean(Values{1, 4, 16}) == about(4));
  CHECK(median_absolute_deviation(Values{1, 1, 2, 2, 4, 6, 9}) == about(1));
}

TEST_CASE("an outlier is far away relative to the deviation of the rest") {
  CHECK(outliers(Values{2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3}) ==
        std::vector<std::size_t>{8, 9});
  CHECK(outliers(Values{1, 2, 3, 4, 5, 6, 7}).empty());
  CHECK(outliers({}).empty());
}

TEST_CASE("among equal values only distant ones are outliers") {
  CHECK(outliers(Values{5, 5, 5, 5, 5, 5, 5, 5, 5, 6}) == std::vector<std::size_t>{9});
  CHECK(outliers(Values{5, 5, 5, 5, 5}).empty());
  CHECK(outliers(Values{5, 5, 5, 6, 6}).empty());
}

TEST_CASE("there is no interval of a median below six values") {
  CHECK_FALSE(median_interval(Values{1, 2, 3, 4, 5}));
  const auto six = median_interval(Values{5, 1, 6, 3, 2, 4});
  REQUIRE(six);
  CHECK(six->low == 1);
  CHECK(six->high == 6);
}

TEST_CASE("the interval of a median has the ranks of the sign test") {
  // Conover's table A3: n, and the rank of the lower limit.
  const std::vector<std::pair<std::size_t, double>> ranks = {{8, 1},  {9, 2},  {11, 2}, {12, 3},
                                                             {15, 4}, {20, 6}, {25, 8}, {100, 40}};
  for (const auto& [count, rank] : ranks) {
    Values values(count);
    std::iota(values.begin(), values.end(), 1);
    const auto interval = median_interval(values);
    REQUIRE(interval);
    CHECK(interval->low == rank);
    CHECK(interval->high == static_cast<double>(count) + 1 - rank);
  }
}

TEST_CASE("the interval of a median has the stated coverage") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {6, 8, 10, 30}) {
    int held = 0;
    for (int i = 0; i < 2000; ++i) {
      const auto interval = median_interval(normal_values(random, count, 10, 1));
      held += interval->low <= 10 && 10 <= interval->high ? 1 : 0;
    }
    CHECK(held >= 1885);  // 95.7 % at least, less three standard deviations
    CHECK(held < 2000);
  }
}

TEST_CASE("the median of a resample by ranks is exactly the one of its values") {
  std::mt19937_64 random(7);
  for (std::size_t count = 1; count <= 40; ++count) {
    Values values(count);
    for (double& value : values) value = static_cast<double>(random() % 30) / 7;  // some equal
    const RankedValues ranked(values);
    CHECK(ranked.median() == median(values));
    for (std::size_t drawn = 1; drawn <= count; ++drawn) {
      std::vector<std::size_t> positions(drawn);
      Values chosen;
      for (std::size_t& position : positions) {
        position = random() % count;
        chosen.push_back(values[position]);
      }
      REQUIRE(ranked.median_of(positions) == median(chosen));
    }
  }
}

TEST_CASE("the rank test is exact for small samples") {
  const MannWhitney test = mann_whitney(kAtTerm, kEarly);
  CHECK(test.u == about(35));
  CHECK(test.p == about(0.2544122544122544));  // R: 0.2544
  CHECK(mann_whitney(kEarly, kAtTerm).p == about(test.p));
  CHECK(mann_whitney(kEarly, kAtTerm).u == about(15));
}

TEST_CASE("the rank test is exact with ties, too") {
  // By going through all 462 and 35 ways to deal them out.
  const MannWhitney test = mann_whitney(Values{1, 2, 2, 3, 5}, Values{2, 4, 5, 5, 6, 7});
  CHECK(test.u == about(5));
  CHECK(test.p == about(0.08874458874458875));
  CHECK(mann_whitney(Values{1, 1, 1}, Values{1, 1, 2, 2}).p == about(0.42857142857142855));
  CHECK(mann_whitney(Values{3, 3, 3}, Values{3, 3}).p == about(1));
}

TEST_CASE("large samples use the normal approximation") {
  Values first, shifted, tied, tied_shifted;
  for (int i = 0; i < 100; ++i) {
    first.push_back(i + 1);
    shifted.push_back(i + 8.25);
    tied.push_back(i / 5);
    tied_shifted.push_back(i / 5 + 1);
  }
  CHECK(mann_whitney(first, shifted).p == about(0.0779164997764631));  // SciPy, asymptotic
  CHECK(mann_whitney(tied, tied_shifted).p == about(0.23351632282420254));
  CHECK(mann_whitney(Values(100, 1.0), Values(100, 1.0)).p == 1);
}

TEST_CASE("two samples without overlap have the smallest possible probability") {
  Values low(10), high(10);
  for (int i = 0; i < 10; ++i) {
    low[static_cast<std::size_t>(i)] = i;
    high[static_cast<std::size_t>(i)] = i + 10;
  }
  CHECK(least_p(10, 10) == about(2.0 / 184'756));
  CHECK(mann_whitney(low, high).p == about(least_p(10, 10)));
  CHECK(least_p(3, 3) == about(0.1));
}

TEST_CASE("exact and approximate probabilities agree at the transition") {
  std::mt19937_64 random(5);
  const Values first = normal_values(random, 38, 0, 1), second = normal_values(random, 38, 0.5, 1);
  Values more = second;
  more.push_back(median(second));
  more.push_back(median(second));
  const double exact = mann_whitney(first, second).p, approximate = mann_whitney(first, more).p;
  CHECK(std::abs(std::log(exact / approximate)) < 0.25);
}

TEST_CASE("Holm's correction matches R's p.adjust") {
  const std::vector<double> adjusted =
      holm_adjusted(Values{0.01, 0.04, 0.03, 0.005}, Values{1, 1, 1, 1});
  const Values expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(adjusted[i] == about(expected[i]));
  CHECK(holm_adjusted(Values{0.7, 0.9}, Values{1, 1}) == Values{1, 1});
  CHECK(holm_adjusted({}, {}).empty());
}

// By hand: the smallest p by weight first, and each has what those before it left.
TEST_CASE("a test with a larger weight gets a larger part of the level") {
  const std::vector<double> adjusted =
      holm_adjusted(Values{0.01, 0.001, 0.04}, Values{0.8, 0.1, 0.1});
  CHECK(adjusted[1] == about(0.01));     // 0.001 / 0.1
  CHECK(adjusted[0] == about(0.01125));  // 0.01 / 0.8 * 0.9
  CHECK(adjusted[2] == about(0.04));     // alone
}

TEST_CASE("the ratio of two samples is the median of all ratios of two values") {
  const Ratio ratio = ratio_of(kAtTerm, kEarly);
  CHECK(ratio.estimate == about(0.7623304256784819));
  REQUIRE(ratio.interval);
  CHECK(ratio.interval->low == about(0.5103448275862069));  // the 9th of 50, as by qwilcox
  CHECK(ratio.interval->high == about(1.1634615384615383));
  CHECK(ratio_of(kEarly, kAtTerm).estimate == about(1 / ratio.estimate));
}

TEST_CASE("a ratio has an interval from four values each") {
  CHECK_FALSE(ratio_of(Values{1, 2, 3}, Values{1, 2, 3}).interval);
  const Ratio four = ratio_of(Values{1, 1, 1, 2}, Values{2, 2, 2, 2});
  REQUIRE(four.interval);
  CHECK(four.interval->low == about(1));
  CHECK(four.interval->high == about(2));
}

TEST_CASE("the interval of a ratio has the stated coverage") {
  std::mt19937_64 random(3);
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    const Ratio ratio =
        ratio_of(normal_values(random, 10, 100, 3), normal_values(random, 10, 105, 3));
    held += ratio.interval->low <= 1.05 && 1.05 <= ratio.interval->high ? 1 : 0;
  }
  CHECK(held >= 1880);
  CHECK(held < 2000);
}

TEST_CASE("ratios of very many values need little memory") {
  std::mt19937_64 random(4);
  const Ratio ratio =
      ratio_of(normal_values(random, 10'000, 100, 3), normal_values(random, 10'000, 110, 3));
  CHECK(ratio.estimate == Approx(1.1).epsilon(0.002));
  CHECK(ratio.interval->high - ratio.interval->low < 0.003);
}

TEST_CASE("ratios are found at all magnitudes of a double") {
  // Where logarithms are large, doubles lie farther apart than the search is precise elsewhere.
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  constexpr double kLargest = std::numeric_limits<double>::max();
  const auto from = [](double first) {
    return Values{first, first * 1.01, first * 1.02, first * 1.03, first * 1.04, first * 1.05};
  };
  const std::vector<std::pair<Values, Values>> pairs = {
      {from(1e-9), from(1e-9)},     {from(1), from(1e-9)},     {from(1e-9), from(1e9)},
      {from(1e9), from(1e9)},       {from(1e300), from(1)},    {from(1), from(1e300)},
      {from(1e-300), from(1e-300)}, {from(1e-300), from(1)},   {from(1e300), from(1e300)},
      {from(1e-150), from(1e150)},  {from(1e-300), from(1e7)},
  };
  for (const auto& [base, fresh] : pairs) {
    CAPTURE(base.front());
    CAPTURE(fresh.front());
    const double expected = fresh.front() / base.front();
    const Ratio ratio = ratio_of(base, fresh);
    CHECK(ratio.estimate == about(expected));
    REQUIRE(ratio.interval);
    CHECK(ratio.interval->low <= ratio.estimate);
    CHECK(ratio.interval->low >= expected / 1.05);
    CHECK(ratio.interval->high >= ratio.estimate);
    CHECK(ratio.interval->high <= expected * 1.05);
  }
  // Without the digits that subnormals lack, or beyond what a double can say.
  CHECK(ratio_of(Values{1}, Values{1e-320}).estimate == Approx(1e-320));
  CHECK(ratio_of(Values(8, 1e-320), Values(8, 1e-320)).estimate == about(1));
  CHECK(ratio_of(Values(8, kSmallest), Values(8, 1.0)).estimate > 1e300);
  CHECK(ratio_of(Values{kSmallest, 1e-320, 1, kLargest}, Values{2, kLargest}).estimate > 1);
  CHECK(ratio_of(Values(8, kLargest), Values(8, kSmallest)).estimate == 0);
}

TEST_CASE("the search for a ratio terminates for all inputs") {
  // Not within its contract: what it gives means nothing, but it gives it.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ratio_of(Values(8, kInfinity), Values(8, 1.0));
  ratio_of(Values(8, 0.0), Values(8, 1.0));
  ratio_of(Values(8, 0.0), Values(8, kInfinity));
  ratio_of(Values(8, std::numeric_limits<double>::quiet_NaN()), Values(8, 1.0));
}

TEST_CASE("a series with a trend drifts") {
  const auto exact = drift_of(Values{4.1, 3.9, 4.4, 4.6, 4.3, 4.9, 5.0, 4.8});
  REQUIRE(exact);
  CHECK(exact->p == about(0.03115079365079365));  // SciPy's kendalltau, exact
  const auto tied = drift_of(Values{1, 1, 2, 2, 3, 3, 2, 4, 4, 5, 4, 6});
  CHECK(tied->p == about(0.0003481413713094692));
  CHECK(tied->change == about(4.5 / 1.5));
  CHECK(drift_of(Values(8, 2.0))->p == 1);
  CHECK_FALSE(drift_of(Values{1, 2, 3, 4, 5}));
}

TEST_CASE("bimodal values are detected, unimodal ones are not split") {
  const auto modes = bimodal_modes(Values{10, 20.5, 10.2, 9.9, 20, 10.1, 21, 9.8, 10, 20.2});
  REQUIRE(modes);
  CHECK(modes->low == about(10));
  CHECK(modes->high == about(20.35));
  CHECK(modes->in_low == 6);
  CHECK_FALSE(bimodal_modes(Values{1, 1, 1, 1, 9, 9, 9, 9, 9}));  // too few
  CHECK_FALSE(bimodal_modes(Values(20, 3.0)));
  CHECK_FALSE(
      bimodal_modes(Values{1, 1.1, 1.2, 0.9, 1, 1.05, 0.95, 1.1, 1, 1.15, 0.9, 7}));  // one stray
  std::mt19937_64 random(9);
  int seen = 0;
  for (int i = 0; i < 1000; ++i) seen += bimodal_modes(normal_values(random, 10, 5, 1)) ? 1 : 0;
  CHECK(seen <= 20);
}

}  // namespace
}  // namespace filereel
