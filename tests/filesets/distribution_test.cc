#include "filesets/specification/distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "filesets/system/random.h"

namespace filereel {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

TEST_CASE("count and total are met exactly, whatever the shape") {
  for (const double sigma : {0.0, 0.3, 1.0, 2.4, 5.0, 10.0}) {
    for (const std::uint64_t count : {1u, 2u, 3u, 17u, 414u, 9006u}) {
      for (const std::uint64_t total : {10'000u, 575'000'001u}) {
        const SizeDistribution distribution{.sigma = sigma};
        const auto sizes = draw_sizes(distribution, count, total, 7);
        CHECK(sizes.size() == count);
        CHECK(sum(sizes) == total);
        CHECK(*std::ranges::min_element(sizes) >= 1);
      }
    }
  }
}

TEST_CASE("the limits hold, even where they leave one way only") {
  const SizeDistribution distribution{.sigma = 2.4, .min = 10, .max = 20};
  for (const std::uint64_t total : {1000u, 1001u, 1500u, 1999u, 2000u}) {
    const auto sizes = draw_sizes(distribution, 100, total, 3);
    CHECK(sum(sizes) == total);
    CHECK(*std::ranges::min_element(sizes) >= 10);
    CHECK(*std::ranges::max_element(sizes) <= 20);
  }
}

TEST_CASE("what cannot be is an error that says why") {
  const SizeDistribution distribution{.sigma = 1, .min = 10, .max = 20};
  CHECK_THROWS_AS(draw_sizes(distribution, 100, 999, 1), Error);
  CHECK_THROWS_AS(draw_sizes(distribution, 100, 2001, 1), Error);
  CHECK_THROWS_AS(draw_sizes(distribution, 0, 1, 1), Error);
  CHECK_THROWS_AS(draw_sizes({.sigma = -1}, 1, 1, 1), Error);
  CHECK_THROWS_AS(draw_sizes({.sigma = std::nan("")}, 1, 1, 1), Error);
  CHECK_THROWS_AS(draw_sizes({.min = 2, .max = 1}, 1, 1, 1), Error);
  CHECK_THROWS_AS(draw_sizes({.pareto = ParetoTail{2, 1, 1}}, 1, 1, 1), Error);
  CHECK_THROWS_WITH(check_sizes(distribution, 100, 999, "set.yaml:3:1"),
                    "set.yaml:3:1: 100 files of at least 10 bytes exceed the total of 999 bytes; "
                    "reduce the count or the minimum size, or increase the total");
  CHECK(draw_sizes({}, 0, 0, 1).empty());
}

TEST_CASE("the same seed gives the same sizes and another seed others") {
  CHECK(draw_sizes({}, 100, 1'000'000, 1) == draw_sizes({}, 100, 1'000'000, 1));
  CHECK(draw_sizes({}, 100, 1'000'000, 1) != draw_sizes({}, 100, 1'000'000, 2));
}

TEST_CASE("these sizes must never change, or results stop being comparable") {
  const auto sizes = draw_sizes({}, 8, 1'000'000, 1);
  CHECK(sizes == std::vector<std::uint64_t>{181777, 473, 24798, 2361, 11654, 709588, 62814, 6535});
}

TEST_CASE("the body is lognormal: the spread of the logarithms is sigma") {
  const auto sizes = draw_sizes({.sigma = 2, .min = 0}, 20'000, 100'000'000'000, 5);
  double mean = 0;
  for (const auto size : sizes) mean += std::log(static_cast<double>(size));
  mean /= static_cast<double>(sizes.size());
  double variance = 0;
  for (const auto size : sizes) variance += std::pow(std::log(static_cast<double>(size)) - mean, 2);
  CHECK(std::sqrt(variance / static_cast<double>(sizes.size())) ==
        doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("the Pareto tail has its weight and its start") {
  const SizeDistribution distribution{
      .sigma = 1, .pareto = ParetoTail{0.001, 0.91, 1'000'000'000}, .max = 50'000'000'000};
  const auto sizes = draw_sizes(distribution, 20'000, 300'000'000'000, 5);
  CHECK(sum(sizes) == 300'000'000'000);
  CHECK(std::ranges::count_if(sizes, [](auto s) { return s >= 1'000'000'000; }) == 20);
}

TEST_CASE("a tail that is larger than the total is scaled down") {
  const SizeDistribution distribution{.sigma = 1, .pareto = ParetoTail{0.5, 1, 1'000'000}};
  CHECK(sum(draw_sizes(distribution, 100, 1'000'000, 5)) == 1'000'000);
}

TEST_CASE("quantiles, logarithm and exponential function agree with known values") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(1e-10) == doctest::Approx(-6.361340902404056).epsilon(1e-14));
  for (double x = 1e-9; x < 1e9; x *= 1.7) {
    CHECK(portable_log(x) == doctest::Approx(std::log(x)).epsilon(1e-14));
  }
  for (double x = -500; x < 500; x += 3.3) {
    CHECK(portable_exp(x) == doctest::Approx(std::exp(x)).epsilon(1e-14));
  }
}

TEST_CASE("random numbers stay inside their bounds") {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const double u = random.uniform();
    CHECK((u > 0 && u < 1));
    CHECK(random.below(7) < 7);
  }
}

}  // namespace
}  // namespace filereel
