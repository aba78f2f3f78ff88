#include <cstdint>
#include <optional>

#include <doctest/doctest.h>

#include "replay/results/latency.h"
#include "replay/results/packed.h"

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

TEST_CASE("stalls are slower than usual slow operations") {
  // A disk: reads of 12 ms, one in a hundred of 40 ms.
  const std::uint64_t threshold = stall_threshold(latencies(12'000'000, 0.02, 40'000'000));
  CHECK(threshold == doctest::Approx(3 * 40e6).epsilon(0.01));
}

TEST_CASE("stalls of up to one operation in a hundred do not raise the threshold") {
  const Histogram some = latencies(100'000, 0.008, 200'000'000);
  CHECK(stall_threshold(some) == kLeastStallNs);
  const Stalls stalls = stalls_above(some, stall_threshold(some));
  CHECK(stalls.count == 800);
  CHECK(stalls.seconds == doctest::Approx(160).epsilon(0.004));
}

TEST_CASE("the stalls of a measurement are those of all its runs and kinds") {
  Measurement measurement;
  for (std::uint32_t run = 1; run <= 3; ++run) {
    Sample& sample = measurement.samples.emplace_back();
    sample.run = run;
    for (const char* kind : {"read", "write"}) {
      const Histogram some = latencies(100'000, 0.001, 200'000'000);
      LatencySummary& summary = sample.latency[kind];
      summary.count = some.count();
      summary.max_us = static_cast<double>(some.max()) / 1e3;
      summary.total_us = static_cast<double>(some.total()) / 1e3;
      summary.histogram = pack_histogram(some);
    }
  }
  const std::optional<MeasurementStalls> own = measurement_stalls(measurement);
  REQUIRE(own);
  CHECK(own->stalls.count == 600);
  CHECK(own->threshold_ns == kLeastStallNs);
  CHECK(own->share_of_operations == doctest::Approx(0.001));
  CHECK(own->share_of_time == doctest::Approx(200.0 / 299.9).epsilon(0.01));
  measurement.samples[1].latency["read"].histogram.clear();  // of an older result
  measurement.samples[1].latency["write"].histogram.clear();
  CHECK_FALSE(measurement_stalls(measurement));
}

TEST_CASE("an operation at the threshold is not a stall") {
  const Histogram all = latencies(kLeastStallNs, 0, 0);
  CHECK(stalls_above(all, kLeastStallNs).count == 0);
}

}  // namespace
}  // namespace filereel
