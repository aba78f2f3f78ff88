#include "replay/measure/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/random.h"

namespace filereel {
namespace {

constexpr double kShares[] = {0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0};

// The smallest value that at least `share` of all do not exceed.
std::uint64_t exact(const std::vector<std::uint64_t>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

void check_close(std::uint64_t got, std::uint64_t wanted) {
  CHECK(got >= wanted);
  CHECK(static_cast<double>(got - wanted) <= 0.01 * static_cast<double>(wanted));
}

TEST_CASE("percentiles are within 1 % of the exact ones over many magnitudes") {
  Random random(11);
  for (const std::uint64_t largest :
       {100ULL, 1'000ULL, 50'000ULL, 3'000'000ULL, 1'000'000'000ULL, 1ULL << 39}) {
    CAPTURE(largest);
    Histogram histogram;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 20'000; ++i) {
      // As latencies are: most of them small, a few very large.
      const double share = std::pow(random.uniform(), 8);
      values.push_back(static_cast<std::uint64_t>(share * static_cast<double>(largest)));
      histogram.record(values.back());
    }
    std::ranges::sort(values);
    for (const double share : kShares) {
      CAPTURE(share);
      check_close(histogram.percentile(share), exact(values, share));
    }
    CHECK(histogram.max() == values.back());
  }
}

TEST_CASE("every value alone comes back within 1 %") {
  for (std::uint64_t value = 1; value < 1ULL << 40; value += 1 + value / 7) {
    for (const std::uint64_t near : {value - 1, value}) {
      Histogram histogram;
      histogram.record(near);
      histogram.record(1ULL << 41);  // else the maximum would tell
      check_close(histogram.percentile(0.5), near);
    }
  }
  for (int bit = 0; bit < 40; ++bit) {
    Histogram histogram;
    histogram.record(1ULL << bit);
    histogram.record(1ULL << 41);
    check_close(histogram.percentile(0.5), 1ULL << bit);
  }
}

TEST_CASE("small values are exact") {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 128; ++value) histogram.record(value);
  for (int percent = 1; percent <= 100; ++percent) {
    const std::uint64_t rank = (static_cast<std::uint64_t>(percent) * 128 + 99) / 100;
    CHECK(histogram.percentile(percent / 100.0) == rank - 1);
  }
}

TEST_CASE("several percentiles in one pass are those one by one") {
  Random random(3);
  Histogram histogram;
  const std::vector<double> shares = {0, 0.5, 0.5, 0.9, 0.999, 1};
  for (int i = 0; i < 500; ++i) {
    const std::vector<std::uint64_t> all = histogram.percentiles(shares);
    for (std::size_t one = 0; one < shares.size(); ++one) {
      REQUIRE(all[one] == histogram.percentile(shares[one]));
    }
    histogram.record(random.below(1'000'000'000));
  }
}

TEST_CASE("an empty histogram is all zeros") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.max() == 0);
  CHECK(histogram.total() == 0);
  for (const double share : kShares) CHECK(histogram.percentile(share) == 0);
}

TEST_CASE("no percentile is above the maximum, which is exact") {
  Histogram histogram;
  histogram.record(1'000'001);
  CHECK(histogram.percentile(1) == 1'000'001);
  CHECK(histogram.percentile(0) == 1'000'001);
  CHECK(histogram.max() == 1'000'001);
}

TEST_CASE("values beyond 2^40 count as that, and the maximum stays exact") {
  Histogram histogram;
  histogram.record(UINT64_MAX);
  histogram.record(1ULL << 40);
  CHECK(histogram.count() == 2);
  CHECK(histogram.max() == UINT64_MAX);
  CHECK(histogram.percentile(1) == (1ULL << 40) - 1);
}

TEST_CASE("count and total are those of what was recorded") {
  Histogram histogram;
  for (const std::uint64_t value : {0ULL, 5ULL, 1'000'000ULL}) histogram.record(value);
  CHECK(histogram.count() == 3);
  CHECK(histogram.total() == 1'000'005);
}

TEST_CASE("merged histograms are as one that saw everything") {
  Random random(3);
  Histogram first, second, both;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t value = random.below(1ULL << (1 + random.below(40)));
    (i % 3 == 0 ? first : second).record(value);
    both.record(value);
  }
  first.merge(second);
  first.merge(Histogram());
  CHECK(first.count() == both.count());
  CHECK(first.total() == both.total());
  CHECK(first.max() == both.max());
  for (const double share : kShares) CHECK(first.percentile(share) == both.percentile(share));
}

}  // namespace
}  // namespace filereel
