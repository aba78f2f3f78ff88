#include "replay/results/metrics.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "replay/json.h"
#include "tests/kept_file.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// Two samples of random reads and writes on two cores.
Result reads_and_writes() {
  Result result = begun_result();
  result.host.cores = 2;
  Measurement& measurement = result.measurements.emplace_back();
  measurement.kind = JobKind::workload;
  measurement.workload = measurement.operation = "mixed";
  measurement.file_system = "ext4";
  for (std::uint32_t run = 1; run <= 2; ++run) {
    Sample sample = sample_of(run, 2.0 * run, 4.0 * run, 8'000'000, 0);
    sample.operations = 2000;
    sample.cpu_user_s = 0.25;
    sample.cpu_system_s = 0.5;
    sample.cpu_driver_s = 0.25;
    sample.latency["read"] = {
        .count = 1500, .p99_us = 40, .max_us = 900.0 * run, .total_us = 15'000};
    sample.latency["write"] = {.count = 500, .p99_us = 80, .max_us = 100, .total_us = 25'000};
    measurement.samples.push_back(std::move(sample));
  }
  return result;
}

double median_of(std::string_view name, const Result& result) {
  const Metric* metric = find_metric(name);
  REQUIRE(metric);
  const auto spread = spread_of(*metric, result, result.measurements.front());
  REQUIRE(spread);
  return spread->median;
}

TEST_CASE("figures of reviews follow from samples") {
  const Result result = reads_and_writes();
  CHECK(median_of("mb_per_s", result) == doctest::Approx(4 / 3.0));             // 2 and 1
  CHECK(median_of("operations_per_s", result) == doctest::Approx(2000 / 3.0));  // 1000, 500
  CHECK(median_of("elapsed_s", result) == doctest::Approx(3));
  CHECK(median_of("durable_s", result) == doctest::Approx(6));
  CHECK(median_of("mean_us", result) == doctest::Approx(20));  // 40,000 by 2,000
  CHECK(median_of("read_mean_us", result) == doctest::Approx(10));
  CHECK(median_of("write_mean_us", result) == doctest::Approx(50));
  CHECK(median_of("read_max_us", result) == doctest::Approx(1800));  // of all samples
  CHECK(median_of("max_us", result) == doctest::Approx(1800));       // of all samples, too
  CHECK(median_of("cpu_share", result) == doctest::Approx(0.1875));  // 1 s of 2 × 2, of 2 × 4
  CHECK(median_of("cpu_s_per_1000_operations", result) == doctest::Approx(0.5));
}

TEST_CASE("missing data gives no figure") {
  const Result result = reads_and_writes();
  for (const std::string_view name : {"files_per_s", "fsync_p99_us"}) {
    CHECK_FALSE(spread_of(*find_metric(name), result, result.measurements.front()));
  }
  Result failed = result;
  for (Sample& sample : failed.measurements.front().samples) sample.divergences = 1;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    CHECK_FALSE(spread_of(metric, failed, failed.measurements.front()));
  }
}

TEST_CASE("metrics have names of their own, and each sample has the figures of its measurement") {
  const Result result = reads_and_writes();
  const Measurement& measurement = result.measurements.front();
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK(find_metric(metric.name) == &metric);
    const bool has = spread_of(metric, result, measurement).has_value();
    CHECK(figure_of(metric, MetricSource(result, measurement), measurement.samples.front())
              .has_value() == has);
  }
  CHECK(find_metric("speed") == nullptr);
}

TEST_CASE("a metric that depends on the bytes of a sample says so") {
  Result result = reads_and_writes();
  const Measurement& measurement = result.measurements.front();
  Measurement other = measurement;
  for (Sample& sample : other.samples) sample.bytes *= 2;
  int dependent = 0;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    const auto before =
        figure_of(metric, MetricSource(result, measurement), measurement.samples.front());
    const auto after = figure_of(metric, MetricSource(result, other), other.samples.front());
    if (before == after) continue;
    ++dependent;
    CHECK(metric.of_bytes);
  }
  CHECK(dependent == 2);  // the third one is of several clients
}

TEST_CASE("docs/report.md and the schema of results have each metric") {
  const std::string report = kept_file("../docs/report.md");
  const Json schema = Json::parse(kept_file("../docs/result.schema.json"));
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    std::string name(metric.name);
    CHECK(schema["$defs"]["sweep"]["properties"].contains(name));
    // Those of writes are told with those of reads.
    if (name.starts_with("write_")) name.replace(0, 5, "read");
    CHECK(report.contains("`" + name + "`"));
  }
}

TEST_CASE("the main rate is MB/s, otherwise files/s, otherwise operations/s") {
  Result result = reads_and_writes();
  Measurement& measurement = result.measurements.front();
  CHECK(main_metric(result, measurement)->name == "mb_per_s");
  for (Sample& sample : measurement.samples) sample.bytes = 0;
  CHECK(main_metric(result, measurement)->name == "operations_per_s");
  for (Sample& sample : measurement.samples) sample.files = 5;
  CHECK(main_metric(result, measurement)->name == "files_per_s");
  measurement.samples.clear();
  CHECK(main_metric(result, measurement) == nullptr);
}

}  // namespace
}  // namespace filereel
