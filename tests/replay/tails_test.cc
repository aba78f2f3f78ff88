#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/json.h"
#include "replay/report/tails_data.h"
#include "replay/results/latency.h"
#include "replay/results/packed.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// A stall in the second of five intervals.
TimeGrid stalled_grid() {
  TimeGrid grid;
  for (int i = 0; i < 5; ++i) grid.record(1'000'000, Histogram::bucket(10'000), 1000, false);
  grid.record(15'000'000, Histogram::bucket(200'000'000), 1000, true);
  for (int i = 0; i < 3; ++i) grid.record(49'000'000, Histogram::bucket(10'000), 1000, false);
  return grid;
}

TEST_CASE("a curve of percentiles goes from the median to the maximum, which is one of all") {
  Histogram latency;
  for (int i = 0; i < 999; ++i) latency.record(10'000);
  latency.record(200'000'000);
  const std::vector<CurvePoint> curve = percentile_curve(latency);
  REQUIRE(curve.size() == 3);  // ends of the stretch of 10 us, and the stall
  CHECK(curve[0].nines == doctest::Approx(0.30103));
  CHECK(curve[0].latency_us == doctest::Approx(10).epsilon(0.01));
  CHECK(curve[1].nines == 2.875);
  CHECK(curve[1].latency_us == curve[0].latency_us);
  CHECK(curve[2].nines == doctest::Approx(3));
  CHECK(curve[2].latency_us == 200'000);
}

TEST_CASE("every point of a curve is that percentile, and there are none that the count lacks") {
  Histogram latency;
  for (std::uint64_t i = 1; i <= 20'000; ++i) latency.record(i * 1000);
  const std::vector<CurvePoint> curve = percentile_curve(latency);
  CHECK(std::ranges::is_sorted(curve, {}, &CurvePoint::nines));
  CHECK(std::ranges::is_sorted(curve, {}, &CurvePoint::latency_us));
  for (const CurvePoint& point : curve) {
    const double share = 1 - std::pow(10, -point.nines);
    CHECK(point.latency_us == doctest::Approx(share * 20'000).epsilon(0.01));
  }
  CHECK(curve.back().nines == doctest::Approx(std::log10(20'000)));
  CHECK(percentile_curve(Histogram()).empty());
  Histogram single;
  single.record(5'000);
  REQUIRE(percentile_curve(single).size() == 1);
  CHECK(percentile_curve(single)[0].latency_us == 5);
}

TEST_CASE("without a histogram a curve goes through the percentiles that the count has") {
  LatencySummary latency{.count = 500, .p50_us = 1, .p90_us = 2, .p95_us = 3, .p99_us = 4};
  latency.p999_us = latency.p9999_us = 5;
  latency.max_us = 5;
  const std::vector<CurvePoint> curve = percentile_curve(latency);
  REQUIRE(curve.size() == 5);
  CHECK(curve[3].nines == 2);
  CHECK(curve[3].latency_us == 4);
  CHECK(curve[4].nines == doctest::Approx(std::log10(500)));
  CHECK(curve[4].latency_us == 5);
}

TEST_CASE("classes of sizes are those that every sample tells apart") {
  Histogram small, large;
  small.record(1000);
  large.record(9000);
  LatencySummary both{.count = 2};
  both.sizes = {{4096, 1, 1, pack_histogram(small)}, {0, 9, 9, pack_histogram(large)}};
  Measurement measurement;
  measurement.samples.resize(2);
  for (Sample& sample : measurement.samples) sample.latency["read"] = both;
  const std::vector<SizeClass> classes = size_classes(measurement, "read");
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].name == "read up to 4 KiB");
  CHECK(classes[0].latency.count() == 2);
  CHECK(classes[1].name == "read over 1 MiB");
  CHECK(classes[1].latency.max() == 9000);
  LatencySummary& other = measurement.samples[1].latency["read"];
  other.sizes.clear();
  other.histogram = pack_histogram(small);
  CHECK(size_classes(measurement, "read").empty());
}

TEST_CASE("cells hold all operations, and a single one is a cell") {
  const TimeGrid grid = stalled_grid();
  const std::size_t fast = Histogram::bucket(10'000) >> TimeGrid::kBucketBits;
  const std::size_t slow = Histogram::bucket(200'000'000) >> TimeGrid::kBucketBits;
  const std::size_t bins = TimeGrid::kBins;
  CHECK(cells_of(grid) ==
        std::vector<std::uint64_t>{fast, 5, bins + slow - fast, 1, 3 * bins + fast - slow, 3});
  CHECK(cells_of(TimeGrid()).empty());
}

TEST_CASE("a coarser grid has fewer intervals and the same operations") {
  const TimeGrid coarse = coarser(stalled_grid(), 3);
  CHECK(coarse.width_ns() == 2 * TimeGrid::kFinestNs);
  REQUIRE(coarse.intervals().size() == 3);
  CHECK(coarse.intervals()[0].bytes == 6000);
  CHECK(coarse.intervals()[2].bytes == 3000);
  CHECK(coarser(stalled_grid(), 5).width_ns() == TimeGrid::kFinestNs);
}

TEST_CASE("rates are of the time that there was") {
  const TimeGrid grid = stalled_grid();
  const std::vector<std::uint64_t> amounts = {5, 1, 0, 0, 3};
  const auto whole = rates_over_time(grid, amounts, 0.05);
  REQUIRE(whole.size() == 5);
  CHECK(whole[0].at_s == doctest::Approx(0.005));
  CHECK(whole[0].per_s == doctest::Approx(500));
  CHECK(whole[4].per_s == doctest::Approx(300));
  const auto cut = rates_over_time(grid, amounts, 0.046);
  REQUIRE(cut.size() == 5);
  CHECK(cut[4].at_s == doctest::Approx(0.043));
  CHECK(cut[4].per_s == doctest::Approx(500));
  const auto joined = rates_over_time(grid, amounts, 0.042);
  REQUIRE(joined.size() == 4);
  CHECK(joined[3].at_s == doctest::Approx(0.036));
  CHECK(joined[3].per_s == doctest::Approx(250));
}

TEST_CASE("the slowest operations are those of all samples, without failed ones") {
  Measurement measurement;
  measurement.samples.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    measurement.samples[i].run = i + 1;
    for (const double us : {100.0 - i, 50.0 + i}) {
      measurement.samples[i].slowest.push_back({.operation = "read", .path = {}, .latency_us = us});
    }
  }
  measurement.samples[0].divergences = 1;
  const auto slowest = slowest_of(measurement, 3);
  REQUIRE(slowest.size() == 3);
  CHECK(slowest[0].first == 2);
  CHECK(slowest[0].second->latency_us == 99);
  CHECK(slowest[1].first == 3);
  CHECK(slowest[1].second->latency_us == 98);
  CHECK(slowest[2].second->latency_us == 52);
}

std::uint64_t operations_in(const Json& grid) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < grid["cells"].size(); i += 2) {
    sum += grid["cells"][i].get<std::uint64_t>();
  }
  return sum;
}

TEST_CASE("the page has the course of each sample and of all together") {
  Measurement measurement = sample_replay().measurements[0];
  const PageDetail detail{.intervals = 240, .operations = 2};
  const Json course = course_data(measurement, detail);
  CHECK(course["figure"] == "mb_per_s_elapsed");
  CHECK(course["typical"] == 1);
  REQUIRE(course["runs"].size() == 3);
  CHECK(operations_in(course["runs"][1]) == 2);
  CHECK(operations_in(course["all"]) == 6);
  const Json slowest = slowest_data(measurement, detail);
  REQUIRE(slowest.size() == 2);
  CHECK(slowest[0] == Json::parse(R"([1,"read","a/b",8192,4096,3,0.25,40000.0,39000.0,1234])"));

  const Json kinds = kinds_data(measurement);
  const auto read =
      std::ranges::find_if(kinds, [](const Json& one) { return one["kind"] == "read"; });
  REQUIRE(read != kinds.end());
  CHECK((*read)["operations"] == 12'000);
  CHECK((*read)["pooled"] == true);
  CHECK((*read)["max_us"] == 40'000);
  CHECK((*read)["p50_us"].get<double>() == doctest::Approx(20'000).epsilon(0.01));
  CHECK_FALSE((*read)["curve"].empty());

  for (Sample& sample : measurement.samples) {
    sample.course.reset();
    sample.slowest.clear();
  }
  CHECK(course_data(measurement, detail) == Json::object());
  CHECK(slowest_data(measurement, detail).empty());
}

TEST_CASE("a page of many samples has three courses of each measurement, and all together") {
  Measurement measurement = sample_replay().measurements[0];
  measurement.samples.resize(1, measurement.samples[0]);
  measurement.samples.resize(9, measurement.samples[0]);
  for (std::size_t i = 0; i < 9; ++i) {
    measurement.samples[i].run = static_cast<std::uint32_t>(i + 1);
    measurement.samples[i].elapsed_s = static_cast<double>((i * 4 + 3) % 9 + 1);
  }
  const PageDetail detail{.intervals = 240, .operations = 2, .all_courses = false};
  const Json course = course_data(measurement, detail);
  REQUIRE(course["runs"].size() == 3);  // with 1, 5 and 9 seconds
  CHECK(course["runs"][0]["run"] == 7);
  CHECK(course["runs"][1]["run"] == 8);
  CHECK(course["runs"][2]["run"] == 9);
  CHECK(course["typical"] == 8);
  CHECK(course["repetitions"] == 9);
  CHECK(operations_in(course["all"]) == 9 * operations_in(course["runs"][0]));
  measurement.samples.resize(3);
  CHECK_FALSE(course_data(measurement, detail).contains("repetitions"));
}

TEST_CASE("pages of many measurements hold less of each") {
  std::vector<ReportedResult> results(1, {"r.json", {}});
  CHECK(detail_for(results).intervals == TimeGrid::kIntervals);
  CHECK(detail_for(results).operations == 32);
  CHECK(detail_for(results).all_courses);
  results[0].result.measurements.resize(400);
  for (Measurement& measurement : results[0].result.measurements) measurement.samples.resize(3);
  CHECK(detail_for(results).intervals == 30);
  CHECK(detail_for(results).operations == 15);
  CHECK_FALSE(detail_for(results).all_courses);
}

}  // namespace
}  // namespace filereel
