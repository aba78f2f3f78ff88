#include "replay/report/overview.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/report/pool.h"
#include "replay/report/ranking_data.h"
#include "replay/results/hidden_serials.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

Result labelled(const std::string& label) {
  Result result = sample_result();
  result.label = label;
  return result;
}

// Of a drive with a serial number; `label` is the user's.
Result drive(const std::string& serial, const std::string& label = "") {
  Result result = sample_result();
  result.label = label;
  for (VolumeDescription& volume : result.volumes) {
    for (DeviceIdentity& device : volume.drives) device.serial = serial;
  }
  return result;
}

// Another test of the same drive.
Result other_test(Result result) {
  for (Measurement& measurement : result.measurements) measurement.workload = "other";
  for (JobRecord& job : result.plan.jobs) job.name = "other";
  return result;
}

TEST_CASE("results of one drive are one column, with the samples of all") {
  const std::vector<ReportedResult> files = {
      {"a1", drive("1", "A")}, {"b1", drive("2", "A")}, {"a2", drive("1", "A")}};
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 1, 0});
  const std::vector<ReportedResult> pools = pooled_by_drive(files);
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].file == "a1, a2");
  REQUIRE(pools[0].result.measurements.size() == files[0].result.measurements.size());
  const auto& samples = pools[0].result.measurements[0].samples;
  const auto& of_one = files[0].result.measurements[0].samples;
  REQUIRE(samples.size() == 2 * of_one.size());
  CHECK(samples.back().run == 2 * of_one.back().run);  // numbered on
  CHECK(pools[0].result.volumes.size() == files[0].result.volumes.size());
  CHECK(pools[0].result.warnings.size() == files[0].result.warnings.size() + 1);
  CHECK(pools[0].result.warnings.back().code == "too-few-samples");  // of both together
}

TEST_CASE("results of one label on volumes made differently are columns of their own") {
  std::vector<ReportedResult> files = {{"a", drive("1", "A")}, {"b", drive("1", "A")}};
  files[1].result.volumes[0].mount_options = "rw,noatime";
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 1});
  files[1].result.volumes[0].mount_options = files[0].result.volumes[0].mount_options;
  files[0].result.volumes[0].features = {{"features", "reflink"}};
  files[1].result.volumes[0].features = {{"features", ""}};
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 1});
  ++files[1].result.volumes[0].size;  // on which features depend
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("several tests of a drive are one column, and the same test again is not") {
  const std::vector<ReportedResult> files = {
      {"a1", drive("1")}, {"a2", other_test(drive("1"))}, {"a3", drive("1")}};
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 0, 1});
  const std::vector<ReportedResult> pools = pooled_by_drive(files);
  CHECK(pools[0].result.measurements.size() == 2 * pools[1].result.measurements.size());
  CHECK(pools[0].result.plan.jobs.size() == 2 * pools[1].result.plan.jobs.size());
}

TEST_CASE("firmware, labels, settings and machines keep results apart") {
  const Result base = drive("1", "A");
  const auto apart = [&](const Result& other) {
    const std::vector<ReportedResult> two = {{"a", base}, {"b", other}};
    return pooled_by_drive(two).size() == 2;
  };
  CHECK_FALSE(apart(base));
  Result other = base;
  for (VolumeDescription& volume : other.volumes) {
    for (DeviceIdentity& device : volume.drives) device.firmware = "2.00";
  }
  CHECK(apart(other));
  other = base;
  other.label = "with barriers";
  CHECK(apart(other));
  other = base;
  REQUIRE_FALSE(other.plan.jobs.empty());
  other.plan.jobs[0].scale = 0.125;
  CHECK(apart(other));
  other = base;
  other.host.cpu = "Another";
  CHECK(apart(other));
  other = base;
  other.plan.jobs[0].overhead_ns += 7;  // noise
  CHECK_FALSE(apart(other));
}

TEST_CASE("results of one share are one column, also if it is hidden") {
  Result here = sample_result();
  here.volumes = {network_volume()};
  Result there = here;
  there.volumes[0].network->source = "nas.example.org:/other";
  const std::vector<ReportedResult> files = {
      {"a", here}, {"b", there}, {"c", other_test(here)}, {"d", here}};
  CHECK(columns_of(files) == std::vector<std::size_t>{0, 1, 0, 2});
  for (Result* result : {&here, &there}) hide_serials(result->volumes[0]);
  const std::vector<ReportedResult> hidden = {{"a", here}, {"b", there}, {"c", other_test(here)}};
  CHECK(columns_of(hidden) == std::vector<std::size_t>{0, 1, 0});
}

TEST_CASE("without a drive only labels distinguish results, and groups override all") {
  Result nameless = sample_result();
  nameless.volumes.clear();
  std::vector<ReportedResult> files = {{"a", nameless}, {"b", nameless}};
  CHECK(pooled_by_drive(files).size() == 2);
  for (ReportedResult& file : files) file.result.label = "ram";
  CHECK(pooled_by_drive(files).size() == 1);
  files[0].group = "base";
  files[1].group = "new";
  CHECK(pooled_by_drive(files).size() == 2);
}

Result only_with(const std::string& label, const std::string& file_system) {
  Result result = labelled(label);
  result.measurements.resize(1);
  result.measurements[0].file_system = file_system;
  return result;
}

TEST_CASE("a name has no file system that the label tells, or that each label has one of") {
  const auto names_of_all = [](const std::vector<ReportedResult>& results) {
    std::vector<std::string> names;
    for (const Series& series : overview_of(results).series) names.push_back(series.name);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(names_of_all({{"a", only_with("ext4-bigalloc", "ext4")},
                      {"b", only_with("zstd", "btrfs")}}) == Names{"ext4-bigalloc", "zstd"});
  Result both = only_with("disk", "xfs");
  both.measurements.push_back(both.measurements[0]);
  both.measurements[1].file_system = "btrfs";
  CHECK(names_of_all({{"a", only_with("ext4", "ext4")}, {"b", both}}) ==
        Names{"ext4", "disk xfs", "disk btrfs"});
  // Without labels only the file systems tell them apart.
  CHECK(names_of_all({{"a", only_with("", "ext4")}, {"b", only_with("", "xfs")}}) ==
        Names{"Fast Disk 3 1.07 ext4", "Fast Disk 3 1.07 (2) xfs"});
}

TEST_CASE("an overview has a row for each thing and a column for each drive and file system") {
  const std::vector<ReportedResult> one = {{"a", labelled("A")}};
  const Overview single = overview_of(one);
  std::vector<std::string> names;
  for (const Series& series : single.series) names.push_back(series.name);
  CHECK(names == file_systems_of(one.front().result));

  std::vector<ReportedResult> two = {one.front(), {"b", labelled("B")}};
  two[1].result.measurements.resize(1);
  const Overview overview = overview_of(two);
  CHECK(overview.series.back().name == "B " + two[1].result.measurements[0].file_system);
  REQUIRE_FALSE(overview.rows.empty());
  const OverviewRow& first = overview.rows.front();
  CHECK(first.cells.front() == &two[0].result.measurements[0]);
  CHECK(first.cells.back() == &two[1].result.measurements[0]);
  CHECK(overview.rows.back().cells.back() == nullptr);
}

TEST_CASE("views are those of the plan, else one for each part") {
  std::vector<ReportedResult> results = {{"a", sample_sweep()}};
  std::vector<ReportView> views = views_of(results, overview_of(results));
  REQUIRE(views.size() == 1);
  CHECK(views[0].form == "lines");
  CHECK(views[0].by == "depth");
  CHECK(views[0].metrics == std::vector<std::string>{"operations_per_s", "read_p99_us"});

  ReportView asked;
  asked.title = "Bars of all";
  asked.form = "bars";
  ReportView of_nothing;
  of_nothing.jobs = {"no-such-job"};
  results[0].result.plan.report = {asked, of_nothing};
  views = views_of(results, overview_of(results));
  REQUIRE(views.size() == 1);
  CHECK(views[0].title == "Bars of all");
  CHECK(views[0].form == "bars");
}

TEST_CASE("a sweep is drawn over its longest axis, sizes by MB/s, and names as bars") {
  const auto view_over = [](std::vector<SweepAxis> axes) {
    Result result = sample_sweep();
    result.plan.jobs[0].axes = std::move(axes);
    const std::vector<ReportedResult> results = {{"a", std::move(result)}};
    return views_of(results, overview_of(results)).at(0);
  };
  CHECK(view_over({{"size", {"4 KiB", "64 KiB", "1 MiB"}}, {"depth", {"1", "4"}}}).by == "size");
  CHECK(view_over({{"depth", {"1", "4"}}, {"reads", {"0 %", "100 %"}}}).by == "reads");
  CHECK(view_over({{"size", {"4 KiB", "1 MiB"}}}).metrics.front() == "mb_per_s");
  const ReportView copies = view_over({{"copy_method", {"readwrite", "cp -a {from}/. {to}"}}});
  CHECK(copies.form == "bars");
  CHECK(copies.metrics.empty());
}

// A phase of a workload in one sample.
Measurement phase(const std::string& operation, std::uint64_t bytes, std::uint64_t files,
                  std::uint64_t operations) {
  Measurement measurement = measurement_of("", operation, "ext4", "kernel");
  measurement.kind = JobKind::workload;
  measurement.workload = "mixed";
  measurement.samples = {sample_of(1, 1, 2, bytes, files)};
  measurement.samples[0].operations = operations;
  return measurement;
}

TEST_CASE("each phase has the metric that describes it") {
  Result result = begun_result();
  result.measurements = {phase("create", 1'000'000, 400, 1600),
                         phase("accesses", 4'096'000, 0, 1000),
                         phase("films", 3'000'000'000, 3, 12'000), phase("delete", 0, 400, 400),
                         phase("large accesses", 1'000'000'000, 0, 1000)};
  const std::vector<ReportedResult> results = {{"a", result}};
  const Overview overview = overview_of(results);
  std::vector<std::string> names;
  for (const OverviewRow& row : overview.rows) names.emplace_back(row.metric->name);
  CHECK(names == std::vector<std::string>{"files_per_s", "operations_per_s", "mb_per_s",
                                          "files_per_s", "mb_per_s"});
  const std::vector<ReportView> views = views_of(results, overview);
  REQUIRE(views.size() == 1);
  CHECK(views[0].metrics.empty());
}

TEST_CASE("steps of a named FC-Test are told apart") {
  const std::vector<ReportedResult> results = {{"a", other_test(sample_result())}};
  std::vector<std::string> titles;
  for (const ReportView& view : views_of(results, overview_of(results))) {
    titles.push_back(view.title);
  }
  CHECK(titles == std::vector<std::string>{"other create", "other copy-far", "other delete"});
}

TEST_CASE("marks stand beside the tested figure alone") {
  const auto standing = [](Figure tested, std::string_view metric, bool wrote = true) {
    const RowStandings row{tested, wrote, {Standing::none, Standing::best}};
    return row.of(1, *find_metric(metric));
  };
  CHECK(standing(Figure::durable, "files_per_s") == Standing::best);
  CHECK(standing(Figure::durable, "durable_s") == Standing::best);
  CHECK(standing(Figure::durable, "elapsed_s") == Standing::none);
  CHECK(standing(Figure::elapsed, "elapsed_s") == Standing::best);
  CHECK(standing(Figure::elapsed, "files_per_s") == Standing::none);
  CHECK(standing(Figure::elapsed, "files_per_s", false) == Standing::best);  // until calls return
  CHECK(standing(Figure::elapsed, "mb_per_s", false) == Standing::best);
  CHECK(standing(Figure::per_operation, "operations_per_s") == Standing::best);
  CHECK(standing(Figure::per_operation, "elapsed_s") == Standing::none);  // fixed
  CHECK(standing(Figure::in_calls, "elapsed_s") == Standing::none);       // set by the pace
  CHECK(RowStandings().of(0, *find_metric("elapsed_s")) == Standing::none);
}

TEST_CASE("a job whose name looks like a pattern is shown by itself") {
  Result result = sample_sweep();
  for (Measurement& measurement : result.measurements) measurement.workload = "reads[1]*.yaml";
  result.plan.jobs[0].name = "reads[1]*.yaml";
  const std::vector<ReportedResult> results = {{"a", result}};
  CHECK(views_of(results, overview_of(results)).size() == 1);
}

}  // namespace
}  // namespace filereel
