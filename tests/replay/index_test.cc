#include "replay/compare/index.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/statistics/summary.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// A group in which a measurement of an operation moves 100 MB in each of the times. What reads
// takes another second to make nothing durable.
using TimesOf = std::vector<std::pair<std::string, std::vector<double>>>;
ResultGroup timed_group(const std::string& name, const TimesOf& times) {
  Result result = begun_result();
  for (const auto& [operation, seconds] : times) {
    Measurement& measurement =
        result.measurements.emplace_back(measurement_of("iso", operation, "ext4", "kernel"));
    for (const double s : seconds) {
      const bool reads = operation == "read";
      measurement.samples.push_back(
          sample_of(1, reads ? s : s / 2, reads ? s + 1 : s, 100'000'000, 4));
    }
  }
  return {name, {std::move(result)}, {}};
}

// A run of a recorded program: 10 MB read in 100 calls, each so many microseconds.
Sample traced(double call_us, double elapsed_s) {
  Sample sample = sample_of(1, elapsed_s, elapsed_s, 10'000'000, 0);
  sample.operations = 107;
  LatencySummary& reads = sample.latency["read"];
  reads.count = 100;
  reads.bytes = 10'000'000;
  reads.total_us = 100 * call_us;
  sample.latency["open"].count = 7;
  sample.latency["open"].total_us = 1e6;  // does not count
  return sample;
}

ResultGroup traced_group(const std::string& name, const std::vector<double>& call_us) {
  Result result = begun_result();
  for (std::size_t i = 0; i < call_us.size(); ++i) {
    Measurement& measurement =
        result.measurements.emplace_back(measurement_of("", "replay", "ext4", "kernel"));
    measurement.kind = JobKind::trace;
    measurement.workload = "app" + std::to_string(i);
    for (int run = 0; run < 5; ++run) measurement.samples.push_back(traced(call_us[i], 10));
  }
  return {name, {std::move(result)}, {}};
}

TEST_CASE("an index is the geometric mean of medians, relative to a reference") {
  const std::vector<ResultGroup> groups = {
      timed_group("a", {{"create", {1, 2, 9}}, {"read", {0.5, 0.5, 0.5}}}),
      timed_group("b", {{"create", {1, 1, 1}}, {"read", {0.25, 0.25, 0.25}}, {"copy", {1}}})};
  const MatchedGroups matched(groups);
  const Index index = index_of({.name = "all"}, matched, 0);
  REQUIRE(index.values.size() == 2);
  CHECK(index.unit == "MB/s");
  CHECK(index.rate == "MB/s (writes until durable)");
  CHECK(index_of({.name = "w", .patterns = {"*create*"}}, matched).rate == "MB/s until durable");
  CHECK(index_of({.name = "r", .patterns = {"*read*"}}, matched).rate == "MB/s until calls return");
  CHECK(index.measurements.size() == 2);
  CHECK(index.left_out.size() == 1);                     // only b has it
  CHECK(index.values[0].value == doctest::Approx(100));  // of 50 and 200
  CHECK(index.values[1].value == doctest::Approx(200));  // of 100 and 400
  CHECK(*index.values[0].relative == doctest::Approx(100));
  CHECK(*index.values[1].relative == doctest::Approx(200));
  CHECK_FALSE(index.values[0].interval);  // three runs
  CHECK(index.contents() == "of the medians of 2 of 3 measurements");
}

TEST_CASE("an index names the workload that most of its measurements are of") {
  std::vector<ResultGroup> groups = {
      timed_group("a", {{"create", {1}}, {"read", {1}}, {"delete", {1}}}),
      timed_group("b", {{"create", {1}}, {"read", {1}}, {"delete", {1}}})};
  for (ResultGroup& group : groups) group.results[0].measurements[2].set = "other";
  const std::string set = groups[0].results[0].measurements[0].set;
  CHECK(index_of({.name = "all"}, MatchedGroups(groups)).contents() ==
        "of the medians of 3 of 3 measurements, 2 of them of fc-test " + set);
}

// Deletes of 100 files.
Measurement deletes(double seconds) {
  Measurement measurement = measurement_of("iso", "delete", "ext4", "kernel");
  for (std::uint32_t run = 1; run <= 6; ++run) {
    measurement.samples.push_back(sample_of(run, seconds, seconds, 0, 100));
  }
  return measurement;
}

TEST_CASE("an index of several units is relative to the first entry and has none") {
  const std::vector<double> second(6, 1), two_seconds(6, 2);
  std::vector<ResultGroup> groups = {timed_group("a", {{"create", second}}),
                                     timed_group("b", {{"create", two_seconds}})};
  groups[0].results[0].measurements.push_back(deletes(1));
  groups[1].results[0].measurements.push_back(deletes(2));
  const MatchedGroups matched(groups);
  const std::vector<Index> indexes = default_indexes(matched);
  REQUIRE(indexes.size() == 1);
  const Index& index = indexes.front();
  CHECK(index.unit.empty());
  CHECK(index.reference == 0);
  REQUIRE(index.values.size() == 2);
  CHECK(index.values[0].value == doctest::Approx(100));
  CHECK(index.values[1].value == doctest::Approx(50));
  REQUIRE(index.values[1].interval);
  CHECK(index.values[1].interval->high == index.values[1].relative_interval->high);
  CHECK(index_of({.name = "all"}, matched, 1).values[0].value == doctest::Approx(200));
}

TEST_CASE("a single measurement has no default index") {
  const std::vector<ResultGroup> groups = {timed_group("a", {{"create", {4}}}),
                                           timed_group("b", {{"create", {1}}})};
  CHECK(default_indexes(MatchedGroups(groups)).empty());
  const std::vector<ResultGroup> programs = {traced_group("a", {1000}), traced_group("b", {2000})};
  CHECK(default_indexes(MatchedGroups(programs)).empty());
}

TEST_CASE("the best entries come first, also by times") {
  const std::vector<ResultGroup> groups = {timed_group("a", {{"create", {4}}}),
                                           timed_group("b", {{"create", {1}}}),
                                           timed_group("c", {{"create", {2}}})};
  const MatchedGroups matched(groups);
  const std::vector<std::size_t> order = {1, 2, 0};
  CHECK(index_of({.name = "rates"}, matched).order() == order);
  CHECK(index_of({.name = "times", .metric = "durable_s"}, matched).order() == order);
}

TEST_CASE("the plans' indices are the default ones, and one name has one content") {
  std::vector<ResultGroup> groups = {timed_group("a", {{"create", {1}}, {"read", {1}}}),
                                     timed_group("b", {{"create", {2}}, {"read", {1}}})};
  CHECK(planned_indexes(MatchedGroups(groups)).empty());
  CHECK(default_indexes(MatchedGroups(groups)).front().definition.name == "all");
  for (ResultGroup& group : groups) {
    PlanRecord& plan = group.results[0].plan;
    plan.name = "plan-" + group.name;
    plan.indexes = {{.name = "reads", .patterns = {"* read"}}};
  }
  const MatchedGroups matched(groups);
  std::vector<Index> indexes = default_indexes(matched);
  REQUIRE(indexes.size() == 1);  // equal ones once
  CHECK(indexes[0].definition.name == "reads");
  CHECK(indexes[0].plan == "plan-a");
  CHECK(indexes[0].measurements.size() == 1);
  CHECK(indexes[0].out_of == 2);
  groups[1].results[0].plan.indexes[0].patterns = {"* create"};
  indexes = default_indexes(matched);
  REQUIRE(indexes.size() == 2);
  CHECK(indexes[0].definition.name == "reads (plan-a)");
  CHECK(indexes[1].definition.name == "reads (plan-b)");
}

TEST_CASE("other work does not count") {
  std::vector<ResultGroup> groups = {timed_group("a", {{"create", {1}}, {"read", {1}}}),
                                     timed_group("b", {{"create", {1}}, {"read", {2}}})};
  groups[1].results[0].measurements[0].samples[0].bytes /= 2;
  const MatchedGroups matched(groups);
  const Index index = index_of({.name = "all"}, matched);
  CHECK(index.measurements.size() == 1);
  CHECK(index.left_out.size() == 1);
  CHECK(index.values[1].value == doctest::Approx(50));
}

TEST_CASE("patterns choose measurements by workload, operation, set and key") {
  const std::vector<ResultGroup> groups = {
      timed_group("a", {{"create", {1}}, {"read", {0.5}}, {"copy-near", {4}}})};
  const MatchedGroups matched(groups);
  const auto count = [&](const std::string& pattern) {
    return index_of({.name = "x", .patterns = {pattern}}, matched).measurements.size();
  };
  CHECK(count("fc-test") == 3);
  CHECK(count("fc-test read") == 1);
  CHECK(count("fc-test iso c*") == 2);
  CHECK(count("* ext4") == 3);
  CHECK(count("read") == 0);
  CHECK(index_of({.name = "x", .patterns = {"*read", "*create"}}, matched).measurements.size() ==
        2);
}

TEST_CASE("less is better for times, and unknown metrics are refused") {
  const std::vector<ResultGroup> groups = {timed_group("a", {{"create", {1}}}),
                                           timed_group("b", {{"create", {4}}})};
  const MatchedGroups matched(groups);
  const Index index = index_of({.name = "x", .metric = "durable_s"}, matched, 0);
  CHECK(index.values[1].value == doctest::Approx(4));
  CHECK(*index.values[1].relative == doctest::Approx(25));
  CHECK(index_of({.name = "x", .metric = "files_per_s"}, matched).values[1].value ==
        doctest::Approx(1));
  CHECK_THROWS_AS(index_of({.name = "x", .metric = "speed"}, matched), Error);
}

TEST_CASE("the index of recorded programs counts reads and writes in busy time only") {
  // 10 MB in 100 calls of 1 ms are 100 MB/s; of 4 ms 25 MB/s.
  const std::vector<ResultGroup> groups = {traced_group("a", {1000, 4000}),
                                           traced_group("b", {1000, 1000})};
  const MatchedGroups matched(groups);
  const Index index = index_of({.name = "x", .metric = std::string(kStorageMetric)}, matched, 0);
  REQUIRE(index.values.size() == 2);
  CHECK(index.values[0].storage->mb_per_s == doctest::Approx(50));
  CHECK(index.values[0].storage->access_us == doctest::Approx(2500));
  CHECK(index.values[0].value == doctest::Approx(std::sqrt(50 * 400.0)));
  CHECK(index.values[1].value == doctest::Approx(std::sqrt(100 * 1000.0)));
  CHECK(index.values[0].interval);
  CHECK(default_indexes(matched).size() == 2);
}

TEST_CASE("busy time is the time in calls, and never more than there was") {
  CHECK(busy_time(traced(1000, 10)).busy_s == doctest::Approx(0.1));
  CHECK(busy_time(traced(1000, 0.05)).busy_s == doctest::Approx(0.05));  // calls at the same time
  Sample paced = traced(1000, 10);
  paced.service["read"] = paced.latency["read"];
  paced.service["read"].total_us /= 2;  // what was waited for is not in the call
  CHECK(busy_time(paced).busy_s == doctest::Approx(0.05));
  CHECK(busy_time(sample_of(1, 1, 1, 1, 1)).accesses == 0);
}

// How often the interval of an index of so many measurements holds the truth.
// Logarithms of figures have a median of 0, and are normal or skewed to one side.
double coverage(std::size_t measurements, std::size_t runs, bool skewed) {
  constexpr std::size_t kTrials = 200;
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(0, 0.05);
  std::exponential_distribution<double> exponential(20);
  std::size_t held = 0;
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> logarithms(measurements, std::vector<double>(runs));
    for (auto& series : logarithms) {
      for (double& one : series) {
        one = skewed ? exponential(random) - std::log(2) / 20 : normal(random);
      }
    }
    const std::vector<std::size_t> sizes(measurements, runs);
    const auto interval = resampled_interval(sizes, [&](const Resample& drawn) {
      double sum = 0;
      std::vector<double> values(runs);
      for (std::size_t i = 0; i < measurements; ++i) {
        for (std::size_t run = 0; run < runs; ++run) values[run] = logarithms[i][drawn[i][run]];
        sum += median(values);
      }
      return std::exp(sum / static_cast<double>(measurements));
    });
    REQUIRE(interval);
    held += interval->low <= 1 && 1 <= interval->high ? 1 : 0;  // the median of all series is 1
  }
  return static_cast<double>(held) / static_cast<double>(kTrials);
}

TEST_CASE("the interval of an index holds the truth about as often as it says") {
  for (const std::size_t measurements : {1, 5, 12}) {
    for (const std::size_t runs : {5, 10}) {
      CAPTURE(measurements);
      CAPTURE(runs);
      CHECK(coverage(measurements, runs, false) >= 0.88);
    }
  }
  CHECK(coverage(5, 10, true) >= 0.88);
}

TEST_CASE("an interval by resampling is the same every time, and needs five runs of each") {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const std::vector<std::size_t> sizes = {5};
  const auto mean = [&](const Resample& drawn) {
    double sum = 0;
    for (const std::size_t position : drawn[0]) sum += values[position];
    return sum / 5;
  };
  const auto first = resampled_interval(sizes, mean), second = resampled_interval(sizes, mean);
  REQUIRE(first);
  CHECK(first->low == second->low);
  CHECK(first->low < 3);
  CHECK(first->high > 3);
  CHECK_FALSE(resampled_interval(std::vector<std::size_t>{5, 4}, mean));
  CHECK_FALSE(resampled_interval({}, mean));
}

}  // namespace
}  // namespace filereel
