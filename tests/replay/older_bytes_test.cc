#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "replay/json.h"
#include "replay/report/pool.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/result_json.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// Ten runs of a phase that reads 90 MB and writes 10 MB, as a version counts it.
Result mixed(std::uint64_t bytes) {
  Result result = begun_result();
  result.complete = true;
  result.label = "A";
  Measurement& measurement =
      result.measurements.emplace_back(measurement_of("", "work", "ext4", "kernel"));
  measurement.kind = JobKind::workload;
  measurement.workload = "mail";
  measurement.ends = PhaseEnd::work;
  for (std::uint32_t run = 1; run <= 10; ++run) {
    Sample& sample = measurement.samples.emplace_back(sample_of(run, 1, 1, bytes, 100));
    sample.started_s = 10 * run;
    sample.operations = 1000;
    sample.latency["read"].count = 900;
    sample.latency["read"].bytes = 90'000'000;
    sample.latency["write"].count = 100;
    sample.latency["write"].bytes = 10'000'000;
  }
  result.plan.jobs = {{.kind = JobKind::workload, .name = "mail", .settings = {}, .axes = {}}};
  return result;
}
constexpr std::uint64_t kOlder = 10'000'000, kNow = 100'000'000;

Result read_as(int version, const Result& result) {
  Json json = Json::parse(result_to_json(result));
  json["schema_version"] = version;
  return result_from_json(json.dump(), "a.json");
}

bool is_marked(const Result& result) {
  const bool warned = std::ranges::any_of(result.warnings, [](const Warning& warning) {
    return warning.code == "bytes-without-reads";
  });
  CHECK(warned == result.measurements[0].without_bytes_read);
  return warned;
}

TEST_CASE("older results without the bytes read keep their figure and are marked") {
  const Result older = read_as(7, mixed(kOlder));
  CHECK(older.measurements[0].samples[0].bytes == kOlder);
  CHECK(is_marked(older));
  CHECK(is_marked(read_as(Result::kSchemaVersion, older)));  // written again
  CHECK_FALSE(is_marked(read_as(Result::kSchemaVersion, mixed(kNow))));
  CHECK_FALSE(is_marked(read_as(7, mixed(kNow))));  // a phase with accesses
  Result reads = mixed(90'000'000);
  for (Sample& sample : reads.measurements[0].samples) sample.latency.erase("write");
  CHECK_FALSE(is_marked(read_as(7, reads)));
  Result files = mixed(kOlder);
  files.measurements[0].kind = JobKind::fc_test;
  CHECK_FALSE(is_marked(read_as(7, files)));
}

TEST_CASE("figures of both definitions are not mixed") {
  const Result older = read_as(7, mixed(kOlder));
  Result newer = mixed(kNow);
  const ResultComparison same = compare_results({&older, 1}, {&newer, 1});
  REQUIRE(same.measurements.size() == 1);
  CHECK_FALSE(same.measurements[0].reason().contains("different work"));
  CHECK(pooled_by_drive(std::vector<ReportedResult>{{"a", older}, {"b", newer}}).size() == 2);
  CHECK(pooled_by_drive(std::vector<ReportedResult>{{"a", older}, {"b", older}}).size() == 1);

  const std::vector<ResultGroup> groups = {{"older", {older}, {}}, {"newer", {newer}, {}}};
  const MatchedGroups matched(groups);
  const Index rates = index_of({.name = "rates", .metric = "mb_per_s"}, matched);
  CHECK(rates.values.empty());
  CHECK(rates.left_out.size() == 1);
  const Index usual = index_of({.name = "all"}, matched);
  CHECK(usual.unit == "files/s");
  CHECK(usual.values.size() == 2);

  for (Sample& sample : newer.measurements[0].samples) sample.latency["read"].bytes *= 2;
  const ResultComparison other = compare_results({&older, 1}, {&newer, 1});
  CHECK(other.measurements[0].reason() ==
        "different sizes of operations, on average: 100 kB versus 190 kB");
}

}  // namespace
}  // namespace filereel
