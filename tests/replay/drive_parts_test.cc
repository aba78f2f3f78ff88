#include "replay/plan/drive_parts.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/jobs/job_makers.h"
#include "replay/jobs/job_wrappers.h"

namespace filereel {
namespace {

using Texts = std::vector<std::string>;

std::string refusal(const Texts& texts) {
  try {
    parse_drive_parts(texts);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

Plan plan_of(const JobOptions& options = {}) {
  Plan plan;
  plan.jobs.push_back(make_workload_job(
      Workload::from_yaml("files: {count: 3, size: 4 KiB}\ndo: [read]\n", "reads"), options));
  return plan;
}

TEST_CASE("parts are names or percentages") {
  const std::vector<DrivePart> parts = parse_drive_parts(Texts{"begin", "25%", "middle", "end"});
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].place == 0);
  CHECK(parts[1].name == "25%");
  CHECK(parts[1].place == 0.25);
  CHECK(parts[2].place == 0.5);
  CHECK(parts[3].place == 1);
  CHECK(parse_drive_parts(Texts{}).empty());
}

TEST_CASE("unknown, duplicate and single parts are refused") {
  for (const char* wrong : {"", "start", "25", "101%", "-1%", "25%x", "nan%", "inf%"}) {
    CAPTURE(wrong);
    CHECK(refusal({"begin", wrong}).find("begin, middle, end") != std::string::npos);
  }
  CHECK(refusal({"begin", "0%"}).find("same part") != std::string::npos);
  CHECK(refusal({"middle"}).find("two or more") != std::string::npos);
}

TEST_CASE("parts need a block device with a size and without a start") {
  const std::vector<DrivePart> parts = parse_drive_parts(Texts{"begin", "end"});
  for (const Target& wrong :
       {Target{TargetKind::directory, "/tmp", 1 << 30}, Target{TargetKind::image, "a.img", 1 << 30},
        Target{TargetKind::block_device, "/dev/sdb"},
        Target{TargetKind::block_device, "/dev/sdb", 1 << 30, false, 4096}}) {
    CHECK_THROWS_AS(place_parts(wrong, parts, "--near"), Error);
  }
}

TEST_CASE("parts are the first axis of each job's sweep") {
  JobOptions options;
  options.sweep = {{"depth", {"1", "2", "4"}}};
  Plan plan;
  plan.jobs.push_back(make_workload_job(
      Workload::from_yaml(
          "files: {count: 1, size: 64 KiB}\naccess: {size: 4 KiB}\nstop: {operations: 9}\n",
          "reads"),
      options));
  const JobRecord before = plan.jobs[0]->record();
  const JobNeeds needs = plan.jobs[0]->needs({});
  measure_on_parts(plan, parse_drive_parts(Texts{"begin", "end"}));
  const Job& job = *plan.jobs[0];
  const JobRecord record = job.record();
  REQUIRE(record.axes.size() == 2);
  CHECK(record.axes[0].name == "part");
  CHECK(record.axes[0].values == Texts{"begin", "end"});
  CHECK(record.axes[1] == before.axes[0]);
  CHECK(job.points() == 6);
  CHECK(job.parameters(0) == Parameters{{"part", "begin"}, {"depth", "1"}});
  CHECK(job.parameters(5) == Parameters{{"part", "end"}, {"depth", "4"}});
  CHECK(job.part(2) == 0);
  CHECK(job.part(3) == 1);
  CHECK_FALSE(job.follows(2, 3));  // it is on another part
  CHECK(job.needs({}).seconds == doctest::Approx(2 * needs.seconds));
  CHECK(plan.parts.size() == 2);
}

TEST_CASE("on each part, the points take turns and have their clients") {
  FileSet set;
  set.name = "small";
  JobOptions options;
  options.sweep = {{"copy_method", {"readwrite", "copy_file_range"}}};
  Plan plan;
  plan.jobs.push_back(with_clients(make_fc_test_job(set, options), Texts{"3"}, false));
  measure_on_parts(plan, parse_drive_parts(Texts{"begin", "end"}));
  const Job& job = *plan.jobs[0];
  CHECK(job.points() == 4);
  CHECK(job.turns() == 2);
  CHECK(job.clients(3) == 3);
}

TEST_CASE("on parts, files that fill their volume have no scale, as without") {
  Plan plan;
  plan.jobs.push_back(make_workload_job(
      Workload::from_yaml("files: {fill: 50 %}\naccess: {size: 4 KiB}\n", "filling"), {}));
  REQUIRE_FALSE(plan.jobs[0]->scales());
  measure_on_parts(plan, parse_drive_parts(Texts{"begin", "end"}));
  CHECK_FALSE(plan.jobs[0]->scales());
}

TEST_CASE("without parts a plan is unchanged") {
  Plan plan = plan_of();
  const Job* const job = plan.jobs[0].get();
  measure_on_parts(plan, {});
  CHECK(plan.jobs[0].get() == job);
  CHECK(plan.parts.empty());
}

TEST_CASE("too many points are refused") {
  Plan plan = plan_of();
  std::vector<DrivePart> parts;
  for (std::uint64_t i = 0; i <= kMostPoints; ++i) parts.push_back({std::to_string(i), 0});
  CHECK_THROWS_AS(measure_on_parts(plan, parts), Error);
}

}  // namespace
}  // namespace filereel
