#include "replay/results/latency.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/packed.h"

namespace filereel {
namespace {

LatencySummary with_histogram(const std::vector<std::uint64_t>& values_ns) {
  Histogram histogram;
  for (const std::uint64_t value : values_ns) histogram.record(value);
  LatencySummary latency = summarise(histogram);
  latency.histogram = pack_histogram(histogram);
  return latency;
}

Measurement of_samples(const std::vector<LatencySummary>& latencies) {
  Measurement measurement;
  for (const LatencySummary& latency : latencies) {
    Sample& sample = measurement.samples.emplace_back();
    sample.run = static_cast<std::uint32_t>(measurement.samples.size());
    sample.latency["read"] = latency;
  }
  return measurement;
}

TEST_CASE("percentiles of several samples are those of all their operations together") {
  // 99 fast calls, then 99 fast ones and a stall: the stall is one of 199.
  const std::vector<std::uint64_t> fast(99, 10'000);
  std::vector<std::uint64_t> stalled = fast;
  stalled.push_back(200'000'000);
  Measurement measurement =
      of_samples({with_histogram(fast), with_histogram(stalled), with_histogram(fast)});
  const LatencySummary pooled = pooled_latency(measurement, "read");
  CHECK(pooled.count == 298);
  CHECK(pooled.p50_us == doctest::Approx(10).epsilon(0.01));
  CHECK(pooled.p99_us == doctest::Approx(10).epsilon(0.01));
  CHECK(pooled.p999_us == doctest::Approx(200'000).epsilon(0.01));
  CHECK(pooled.max_us == 200'000);
  CHECK(pooled.total_us == doctest::Approx(297 * 10 + 200'000));
  CHECK(pooled_histogram(measurement, "read").count() == 298);

  SUBCASE("without those that failed") {
    measurement.samples[1].divergences = 1;
    CHECK(pooled_latency(measurement, "read").max_us == 10);
    CHECK(pooled_latency(measurement, "read").count == 198);
  }
  SUBCASE("with the extremes of the samples beside them") {
    const auto spread = latency_spread(measurement, "read", &LatencySummary::p999_us);
    REQUIRE(spread);
    CHECK(spread->median == pooled.p999_us);
    CHECK(spread->low == doctest::Approx(10).epsilon(0.01));
    CHECK(spread->high == doctest::Approx(200'000).epsilon(0.01));
  }
}

TEST_CASE("without histograms percentiles are medians, and the maximum is that of all") {
  std::vector<LatencySummary> latencies(3);
  for (std::size_t i = 0; i < 3; ++i) {
    latencies[i] = {.count = 10, .errors = i, .bytes = 100, .p99_us = 1.0 + static_cast<double>(i)};
    latencies[i].max_us = i == 0 ? 200'000 : 50;
    latencies[i].total_us = 7;
  }
  Measurement measurement = of_samples(latencies);
  const LatencySummary pooled = pooled_latency(measurement, "read");
  CHECK(pooled.p99_us == 2);
  CHECK(pooled.max_us == 200'000);
  CHECK(pooled.count == 30);
  CHECK(pooled.errors == 3);
  CHECK(pooled.bytes == 300);
  CHECK(pooled.total_us == 21);

  // One that has a histogram does not stand for the others.
  measurement.samples[1].latency["read"] = with_histogram({5'000});
  CHECK(pooled_histogram(measurement, "read").empty());
  CHECK(pooled_latency(measurement, "read").max_us == 200'000);
  CHECK(pooled_latency(measurement, "read").p99_us == 3);
}

TEST_CASE("missing operations have no latency") {
  const Measurement measurement = of_samples({with_histogram({10})});
  CHECK(pooled_latency(measurement, "write").count == 0);
  CHECK(pooled_histogram(measurement, "write").empty());
  CHECK_FALSE(latency_spread(measurement, "write", &LatencySummary::p50_us));
}

}  // namespace
}  // namespace filereel
