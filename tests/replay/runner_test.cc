#include "replay/run/runner.h"

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>

#include "tests/replay/hand_trace.h"
#include "tests/replay/job_run.h"

namespace filereel {
namespace {

JobOptions small_fc_test(std::vector<FcStep> operations) {
  JobOptions options;
  options.sets = {"mp3"};
  options.scale = 1e-5;
  options.operations = std::move(operations);
  return options;
}

std::unique_ptr<Job> fc_test(std::vector<FcStep> operations) {
  return std::move(make_fc_test_jobs(small_fc_test(std::move(operations))).front());
}

std::unique_ptr<Job> reads(const JobOptions& options = {}) {
  return make_workload_job(
      Workload::from_yaml("files: {count: 3, size: 4 KiB}\ndo: [read]\n", "reads"), options);
}

TEST_CASE("an interruption between two repetitions keeps the files of the first") {
  JobRun one(fc_test({FcStep::create}));
  one.request.keep = true;
  one.request.runs = 3;
  std::stop_source stop;
  one.request.stop = stop.get_token();
  one.watcher.at_sample = [&] { stop.request_stop(); };
  CHECK_FALSE(one.run());
  CHECK_FALSE(one.result.complete);
  CHECK(one.watcher.steps.size() == 1);
  CHECK(one.result.measurements.at(0).samples.size() == 1);
  CHECK(boost::filesystem::exists(one.temp / "volume/original"));
}

TEST_CASE("jobs of all kinds are measured one after another, into one result") {
  HandTrace trace;
  trace.add(0, OperationKind::make_directory, "a");
  trace.finish();
  const TraceTrees trees;
  JobRun one(fc_test({FcStep::create, FcStep::read}));
  one.plan.jobs.push_back(reads());
  one.plan.jobs.push_back(make_trace_job(
      "app", std::make_unique<PartsTrace>(trace.source, trace.tables, trace.info, trees), {}));
  one.request.runs = 2;
  CHECK(one.run());
  CHECK(one.result.complete);
  REQUIRE(one.result.plan.jobs.size() == 3);
  REQUIRE(one.result.measurements.size() == 4);
  const std::vector<std::pair<JobKind, std::string>> wanted = {{JobKind::fc_test, "create"},
                                                               {JobKind::fc_test, "read"},
                                                               {JobKind::workload, "run"},
                                                               {JobKind::trace, "replay"}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Measurement& got = one.result.measurements[i];
    CHECK(got.kind == wanted[i].first);
    CHECK(got.operation == wanted[i].second);
    CHECK(got.samples.size() == 2);
    CHECK(one.result.job_of(got).kind == got.kind);
  }
  for (const StepInfo& step : one.watcher.steps) {
    CHECK(step.expected_s > 0);
    CHECK(step.left_s >= step.expected_s);
  }
}

TEST_CASE("every kind of job runs without a volume on the null engine") {
  JobOptions options = small_fc_test({});
  options.engine = EngineKind::null;
  JobRun one(std::move(make_fc_test_jobs(options).front()));
  JobOptions null;
  null.engine = EngineKind::null;
  one.plan.jobs.push_back(reads(null));
  one.request.targets.near.reset();
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 6);
  for (const Measurement& measurement : one.result.measurements) {
    CHECK(measurement.file_system == "none");
    CHECK(measurement.samples.at(0).operations > 0);
  }
  CHECK(one.result.volumes.empty());
}

TEST_CASE("FC-Test verifies contents and trees if asked") {
  for (const Verification verify : {Verification::content, Verification::tree}) {
    JobOptions options = small_fc_test({});
    options.verify = verify;
    JobRun one(std::move(make_fc_test_jobs(options).front()));
    one.request.targets.far = {directory_target(one.temp / "far")};
    CHECK(one.run());
    REQUIRE(one.result.measurements.size() == 5);
    for (const Measurement& measurement : one.result.measurements) {
      CAPTURE(measurement.operation);
      const Sample& sample = measurement.samples.at(0);
      CHECK(sample.divergences == 0);
      CHECK(sample.tree.has_value() == (verify == Verification::tree));
      if (sample.tree) CHECK(sample.tree->differences == 0);
    }
  }
}

TEST_CASE("a parameter of FC-Test may be swept") {
  JobOptions options = small_fc_test({FcStep::create, FcStep::read});
  options.sweep = {{"threads", {"1", "2"}}};
  JobRun one(std::move(make_fc_test_jobs(options).front()));
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 4);
  CHECK(one.result.measurements[2].parameters == Parameters{{"threads", "2"}});
  CHECK(one.result.plan.jobs.at(0).axes.at(0).values.size() == 2);
}

TEST_CASE("a job with a number of runs is not repeated automatically") {
  JobRun one(reads());
  JobOptions twice;
  twice.runs = 2;
  twice.name = "twice";
  one.plan.jobs.push_back(reads(twice));
  one.request.runs.reset();
  one.request.auto_runs = AutoRuns{.least = 5, .most = 6};
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 2);
  CHECK(one.result.measurements[0].samples.size() >= 5);
  CHECK(one.result.measurements[1].samples.size() == 2);
}

TEST_CASE("volume options do not apply if no job uses a volume") {
  JobOptions null;
  null.engine = EngineKind::null;
  JobRun one(reads(null));
  one.request.targets.against = {directory_target(one.temp / "other")};
  CHECK(one.failure().find("null engine") != std::string::npos);
}

TEST_CASE("far is refused if no job uses two volumes") {
  JobRun one(reads());
  one.request.targets.far = {directory_target(one.temp / "far")};
  CHECK(one.failure().find("--far does not apply") != std::string::npos);
}

TEST_CASE("two volumes take turns, with every kind of job") {
  JobRun one(reads());
  one.plan.jobs.push_back(fc_test({FcStep::create}));
  one.request.targets.against = {directory_target(one.temp / "other")};
  one.request.runs = 2;
  Result second;
  CHECK(run_plan(one.request, one.watcher, one.result, {&second, 1}));
  CHECK(second.complete);
  CHECK(second.measurements.size() == one.result.measurements.size());
  std::vector<std::string> order;
  for (const StepInfo& step : one.watcher.steps) {
    order.push_back(step.volume.ends_with("other") ? "B" : "A");
  }
  CHECK(order == std::vector<std::string>{"A", "B", "B", "A", "A", "B", "B", "A"});
}

TEST_CASE("three volumes take turns, in reverse order every second time") {
  JobRun one(reads());
  for (const char* name : {"b", "c"}) {
    one.request.targets.against.push_back(directory_target(one.temp / name));
  }
  one.request.runs = 3;
  std::vector<Result> others(2);
  CHECK(run_plan(one.request, one.watcher, one.result, others));
  for (const Result& other : others) {
    CHECK(other.complete);
    REQUIRE(other.measurements.size() == 1);
    CHECK(other.measurements.front().samples.size() == 3);
  }
  CHECK(others.back().label == (one.temp / "c"));
  std::string order;
  for (const StepInfo& step : one.watcher.steps) order += step.volume.back();
  CHECK(order == "ebccbeebc");  // e: volume
}

}  // namespace
}  // namespace filereel
