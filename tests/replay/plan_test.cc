#include "replay/plan/plan.h"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/plan/catalogue.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

Plan plan(const std::string& text) {
  return plan_from_yaml(text, "my.yaml");
}

Plan load(const std::string& name, const PlanOverrides& overrides = {}) {
  std::vector<std::string> remarks;
  return load_plan({&name, 1}, overrides, remarks);
}

const JobOptions options_of(const Plan& plan, std::size_t job = 0) {
  return plan.jobs.at(job)->options(0);
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& job : plan.jobs) {
    names.push_back(job->set().empty() ? job->record().name : job->set());
  }
  return names;
}

std::string refusal(const std::string& text) {
  try {
    plan(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "";
}

void check_refused(const std::string& text, const std::string& begin, const std::string& holds) {
  const std::string got = refusal(text);
  CAPTURE(got);
  CHECK(got.starts_with(begin));
  CHECK(got.find(holds) != std::string::npos);
}

PlanOverrides of_processes() {
  PlanOverrides overrides;
  overrides.processes = true;
  return overrides;
}

PlanOverrides full_run() {
  PlanOverrides overrides;
  overrides.full = true;
  return overrides;
}

TEST_CASE("every plan of the catalogue loads") {
  const std::vector<CataloguePlan> plans = list_catalogue_plans();
  CHECK(plans.size() >= 2);
  for (const CataloguePlan& plan : plans) {
    CAPTURE(plan.name);
    const Plan loaded = load(plan.name);
    CHECK(loaded.name == plan.name);
    CHECK(loaded.description == plan.description);
    CHECK_FALSE(loaded.description.empty());
    CHECK_FALSE(loaded.jobs.empty());
    if (!loaded.has_full) {
      CHECK_THROWS_WITH_AS(load(plan.name, full_run()), doctest::Contains("--full"), Error);
      continue;
    }
    CHECK_FALSE(load(plan.name, full_run()).jobs.empty());
  }
}

TEST_CASE("the plan fc-test is the published test") {
  const Plan loaded = load("fc-test");
  CHECK(names_of(loaded) ==
        std::vector<std::string>{"install", "iso", "mp3", "programs", "windows"});
  const JobOptions options = options_of(loaded);
  CHECK(options.operations == std::vector<FcStep>{FcStep::create, FcStep::read, FcStep::copy_near,
                                                  FcStep::copy_far, FcStep::remove});
  CHECK(options.fc_test.copy_method == CopyMethod::readwrite);
  CHECK(options.scale == 1.0);
  CHECK_FALSE(options.warm);
}

TEST_CASE("every key of an FC-Test plan is read") {
  const Plan got = plan(
      "description: mine\nworkload: fc-test\nfile_systems: [ntfs, xfs]\nsets: [iso, mp3]\n"
      "operations: [read, create, create]\nruns: 7\nscale: 0.5\nblock_size: 1 MiB\n"
      "copy_method: sendfile\nthreads: 4\nwarm: true\n");
  CHECK(got.name == "my.yaml");
  CHECK(got.description == "mine");
  CHECK(names_of(got) == std::vector<std::string>{"iso", "mp3"});
  const JobOptions options = options_of(got, 1);
  CHECK(options.file_systems == std::vector{FileSystemKind::ntfs, FileSystemKind::xfs});
  CHECK(options.operations == std::vector{FcStep::create, FcStep::read});
  CHECK(options.runs == 7);
  CHECK(options.scale == 0.5);
  CHECK(options.fc_test.block_size == 1 << 20);
  CHECK(options.fc_test.copy_method == CopyMethod::sendfile);
  CHECK(options.fc_test.threads == 4);
  CHECK(options.warm);
}

TEST_CASE("missing keys of a plan have the documented defaults") {
  const JobOptions got = options_of(plan("sets: [iso]\n"));
  CHECK(got.operations.empty());
  CHECK(got.file_systems.empty());
  CHECK_FALSE(got.runs);
  CHECK(got.scale == 1.0);
  CHECK(got.fc_test.block_size == 128 * 1024);
  CHECK(got.fc_test.threads == 1);
}

TEST_CASE("a suite holds jobs of all kinds, each with parameters of its own") {
  const Plan got = plan(
      "file_systems: [ext4]\nscale: 0.5\nruns: 2\njobs:\n"
      "  - random-read\n"
      "  - {job: mp3, operations: [create], runs: 1}\n"
      "  - {job: app-git-clone, pace: think, verify: tree, name: clone}\n"
      "  - {job: queue-matrix, time: 1 s, scale: 0.25, file_systems: [xfs, ntfs]}\n");
  CHECK(names_of(got) == std::vector<std::string>{"random-read", "mp3", "clone", "queue-matrix"});
  CHECK(got.jobs[0]->record().kind == JobKind::workload);
  CHECK(got.jobs[1]->record().kind == JobKind::fc_test);
  CHECK(got.jobs[2]->record().kind == JobKind::trace);
  CHECK(options_of(got, 0).scale == 0.5);
  CHECK(options_of(got, 0).runs == 2);
  CHECK(options_of(got, 1).runs == 1);
  CHECK(options_of(got, 2).pace.kind == Pace::Kind::think);
  CHECK(options_of(got, 2).verify == Verification::tree);
  CHECK(options_of(got, 3).scale == 0.25);
  CHECK(options_of(got, 3).file_systems == std::vector{FileSystemKind::xfs, FileSystemKind::ntfs});
}

TEST_CASE("a plan defines its report") {
  const Plan got = plan(
      "jobs: [random-read, create-files]\n"
      "report:\n"
      "  - {title: Depth 4, jobs: [random-*], form: bars, at: {depth: 4}, metrics: [mean_us]}\n"
      "  - {jobs: [create-files], form: lines, by: phase, metrics: [elapsed_s, durable_s]}\n"
      "indexes:\n"
      "  - {name: small, of: [create-files round-*], metric: files_per_s}\n"
      "  - {name: all}\n");
  REQUIRE(got.report.size() == 2);
  CHECK(got.report[0].title == "Depth 4");
  CHECK(got.report[0].jobs == std::vector<std::string>{"random-*"});
  CHECK(got.report[0].at.at("depth") == "4");
  CHECK(got.report[1].by == "phase");
  CHECK(got.report[1].metrics == std::vector<std::string>{"elapsed_s", "durable_s"});
  REQUIRE(got.indexes.size() == 2);
  CHECK(got.indexes[0].patterns == std::vector<std::string>{"create-files round-*"});
  CHECK(got.indexes[1].patterns.empty());
  CHECK(got.indexes[0].metric == "files_per_s");
}

TEST_CASE("invalid report entries are refused with their place") {
  const std::string jobs = "jobs: [random-read]\n";
  check_refused(jobs + "report: [{jobs: [reed*]}]\n", "my.yaml:2:", "no job");
  check_refused(jobs + "report: [{metrics: [speed]}]\n", "my.yaml:2:", "metric");
  check_refused(jobs + "report: [{form: pie}]\n", "my.yaml:2:", "form");
  check_refused(jobs + "report: [{by: count}]\n", "my.yaml:2:", "not swept by any");
  check_refused(jobs + "report: [{at: {count: 4}}]\n", "my.yaml:2:", "not swept by any");
  check_refused(jobs + "report: [{colour: red}]\n", "my.yaml:2:", "colour");
  check_refused(jobs + "report: [{at: {depth: 3}}]\n", "my.yaml:2:", "'3' is none of the values");
  check_refused(jobs + "report: [{metrics: [speed]}]\n", "my.yaml:2:", "has 'speed', which");
  check_refused(jobs + "indexes: [{name: a, metric: speed}]\n", "my.yaml:2:", "has 'speed', which");
  check_refused(jobs + "indexes: [{name: a, of: [random-reed]}]\n", "my.yaml:2:", "'random-reed'");
  check_refused(jobs + "indexes: [{of: [random-read]}]\n", "my.yaml:2:", "name");
  check_refused(jobs + "indexes: [{name: a}, {name: a, metric: mb_per_s}]\n",
                "my.yaml:2:", "is a second index 'a'");
}

TEST_CASE("a full run uses the values under full, and otherwise the job's") {
  const TempDir temp;
  std::ofstream(temp / "inner.yaml") << "scale: 0.5\nruns: 3\njobs:\n"
                                        "  - job: random-read\n    time: 1 s\n    scale: 0.1\n"
                                        "    sweep: {depth: [1], reads: [50 %]}\n"
                                        "    full: {time: 1 min, runs: 1, file_systems: [xfs], "
                                        "sweep: {depth: [1, 64]}}\n"
                                        "  - mp3\n";
  const Plan usual = load(temp / "inner.yaml");
  CHECK(usual.has_full);
  CHECK(*options_of(usual).time_ns == 1'000'000'000);
  CHECK(options_of(usual).runs == 3);
  CHECK(usual.jobs[0]->points() == 1);
  const Plan full = load(temp / "inner.yaml", full_run());
  CHECK(full.has_full);
  CHECK(*options_of(full).time_ns == 60'000'000'000);
  CHECK(options_of(full).scale == 0.1);
  CHECK(options_of(full).runs == 1);
  CHECK(options_of(full).file_systems == std::vector{FileSystemKind::xfs});
  CHECK(full.jobs[0]->points() == 2);
  CHECK(options_of(full, 1).scale == 0.5);
  CHECK(options_of(full, 1).runs == 3);
  // A plan around it and the command line go before.
  std::ofstream(temp / "outer.yaml")
      << "jobs: [{job: " << temp / "inner.yaml" << ", scale: 0.25, full: {scale: 0.75}}]\n";
  CHECK(options_of(load(temp / "outer.yaml")).scale == 0.25);
  CHECK(options_of(load(temp / "outer.yaml", full_run())).scale == 0.75);
  PlanOverrides said = full_run();
  said.parameters.emplace_back(find_job_parameter("scale"), std::vector<std::string>{"0.9"});
  CHECK(options_of(load(temp / "outer.yaml", said)).scale == 0.9);
}

TEST_CASE("values of a full run are checked like those of jobs") {
  check_refused("jobs: [{job: mp3, full: {job: iso}}]\n", "my.yaml:1:", "job");
  check_refused("jobs: [{job: mp3, full: {runs: auto}}]\n", "my.yaml:1:", "whole plan");
  check_refused("jobs: [{job: mp3, full: 3}]\n", "my.yaml:1:", "full");
  check_refused("full: {time: 1 s}\njobs: [mp3]\n", "my.yaml:1:", "full");
  const TempDir temp;
  std::ofstream(temp / "p.yaml") << "jobs: [{job: mp3, full: {time: 1 s}}]\n";
  CHECK_THROWS_WITH_AS(load(temp / "p.yaml", full_run()), doctest::Contains("does not apply"),
                       Error);
  CHECK_THROWS_WITH_AS(load("quick", full_run()), doctest::Contains("none of its jobs"), Error);
}

TEST_CASE("a plan may name another plan, but not itself") {
  const TempDir temp;
  std::ofstream(temp / "one.yaml") << "jobs: [{job: fc-test, sets: [iso]}, random-read]\n";
  CHECK(names_of(load(temp / "one.yaml")) == std::vector<std::string>{"iso", "random-read"});
  std::ofstream(temp / "round.yaml") << "jobs: [" << temp / "round.yaml" << "]\n";
  CHECK_THROWS_WITH_AS(load(temp / "round.yaml"), doctest::Contains("includes itself"), Error);
}

TEST_CASE("duplicate job names are refused") {
  check_refused("jobs: [random-read, {job: random-read, time: 1 s}]\n", "my.yaml:1:", "name");
  CHECK(plan("jobs: [random-read, {job: random-read, time: 1 s, name: short}]\n").jobs.size() == 2);
}

TEST_CASE("jobs with the same name but other settings are refused, even with other sets") {
  check_refused("jobs: [{job: mp3, threads: 1}, {job: iso, threads: 4}]\n", "my.yaml:1:", "name");
  CHECK(plan("jobs: [{job: mp3, threads: 4}, {job: iso, threads: 4}]\n").jobs.size() == 2);
  CHECK(plan("jobs: [mp3, {job: mp3, name: small, block_size: 4 KiB}]\n").jobs.size() == 2);
}

TEST_CASE("contradictory plans are refused, not ignored") {
  check_refused("sets: [mp3]\njobs: [random-read]\n",
                "my.yaml:1:7: ", "is not allowed next to 'jobs'");
  check_refused("jobs: [{job: mp3, sets: [iso]}]\n", "my.yaml:1:", "itself a file set");
  PlanOverrides null;
  null.parameters = {{find_job_parameter("engine"), {"null"}},
                     {find_job_parameter("verify"), {"tree"}}};
  CHECK_THROWS_WITH_AS(load("mp3", null), doctest::Contains("--verify does not apply"), Error);
  check_refused("jobs: [{job: app-git-clone, sweep: {engine: ['null', blocking]}}]\n",
                "my.yaml:1:", "uses no volume");
  check_refused("jobs: [{job: app-git-clone, scale: 0.5}]\n", "my.yaml:1:", "does not apply");
  CHECK(plan("scale: 0.5\njobs: [app-git-clone, random-read]\n").jobs[0]->record().scale == 1);
}

TEST_CASE("an error stands at the wrong item of a list, not at one that it suggests") {
  check_refused("sets: [mp3]\noperations: [create, copy-near, copy-nearr]\n",
                "my.yaml:2:33: ", "unknown operation 'copy-nearr'");
}

TEST_CASE("a sweep of the command line applies to the jobs with the key") {
  PlanOverrides overrides;
  overrides.sweep = {{"depth", {"1", "2"}}};
  const std::vector<std::string> names = {"mp3", "random-read"};
  std::vector<std::string> remarks;
  const Plan got = load_plan(names, overrides, remarks);
  CHECK(got.jobs[0]->points() == 1);
  CHECK(got.jobs[1]->points() == 2);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].find("--sweep depth is ignored for mp3: unknown sweep key 'depth'") == 0);
  CHECK_THROWS_WITH_AS(load("mp3", overrides), doctest::Contains("sweep key 'depth'"), Error);
  overrides.sweep = {{"threads", {"2", "0"}}};
  const std::vector<std::string> both = {"mp3", "app-git-clone"};
  CHECK_THROWS_WITH_AS(load_plan(both, overrides, remarks), doctest::Contains("threads=0: must be"),
                       Error);
}

TEST_CASE("the number of runs comes from the command line, else the job, else the plan") {
  PlanOverrides overrides;
  overrides.repetitions = true;
  const TempDir temp;
  std::ofstream(temp / "p.yaml") << "runs: 4\njobs: [random-read, {job: mp3, runs: 2}]\n";
  const Plan said = load(temp / "p.yaml");
  CHECK(options_of(said, 0).runs == 4);
  CHECK(options_of(said, 1).runs == 2);
  CHECK_FALSE(options_of(load(temp / "p.yaml", overrides), 1).runs);
}

TEST_CASE("a parameter that does not apply to its job is refused with its place") {
  check_refused("jobs: [{job: random-read, pace: think}]\n", "my.yaml:1:", "does not apply");
  check_refused("jobs: [{job: app-git-clone, time: 1 s}]\n", "my.yaml:1:", "does not apply");
  check_refused("jobs: [{job: mp3, clients: 2}]\n", "my.yaml:1:", "does not apply");
  check_refused("jobs: [no-such-job]\n", "my.yaml:1:8: ", "no-such-job");
}

TEST_CASE("a remark on several jobs names them all, once") {
  PlanOverrides overrides;
  overrides.parameters = {{find_job_parameter("time"), {"1s"}}};
  overrides.sweep = {{"depth", {"1", "2"}}};
  const std::vector<std::string> names = {"mp3", "random-read", "iso", "windows"};
  std::vector<std::string> remarks;
  load_plan(names, overrides, remarks);
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[0].find("--sweep depth is ignored for mp3, iso, windows: ") == 0);
  CHECK(remarks[1].find("--time does not apply to mp3, iso, windows: ") == 0);
}

TEST_CASE("the command line overrides plans, and reports options that do not apply") {
  PlanOverrides overrides;
  overrides.parameters = {{find_job_parameter("time"), {"1s"}},
                          {find_job_parameter("scale"), {"0.1"}}};
  const std::vector<std::string> names = {"random-read", "app-git-clone", "mp3"};
  std::vector<std::string> remarks;
  const Plan got = load_plan(names, overrides, remarks);
  CHECK(got.name == "random-read, app-git-clone, mp3");
  CHECK(options_of(got, 0).time_ns == 1'000'000'000);
  CHECK(options_of(got, 2).scale == 0.1);
  REQUIRE(remarks.size() == 3);
  CHECK(remarks[0].find("--scale does not apply to app-git-clone: ") == 0);
  CHECK(remarks[1].find("--time does not apply to app-git-clone: ") == 0);
  CHECK(remarks[2].find("--time does not apply to mp3: ") == 0);
  CHECK_THROWS_WITH_AS(load("app-git-clone", overrides), doctest::Contains("does not apply"),
                       Error);
}

TEST_CASE("similar names are suggested") {
  CHECK_THROWS_WITH_AS(load("random-raed"), doctest::Contains("did you mean 'random-read'"), Error);
  CHECK_THROWS_WITH_AS(plan("jobs: [random-read]\nrun: 3\n"),
                       doctest::Contains("did you mean 'runs'"), Error);
}

TEST_CASE("anything measurable is a plan of one job") {
  const TempDir temp;
  std::ofstream(temp / "w.yaml") << "files: {size: 4 KiB}\ndo: [read]\n";
  std::ofstream(temp / "s.yaml") << "name: s\ngroups: [{path: a, count: 2, size: 4 KiB}]\n";
  CHECK(load("app-git-clone").jobs.at(0)->record().kind == JobKind::trace);
  CHECK(load("app-git-clone.reel").jobs.at(0)->record().name == "app-git-clone");
  CHECK(load("mysql-mix").jobs.at(0)->record().kind == JobKind::trace);
  CHECK(load("mp3").jobs.at(0)->set() == "mp3");
  CHECK(load(temp / "w.yaml").jobs.at(0)->record().kind == JobKind::workload);
  CHECK(load(temp / "s.yaml").jobs.at(0)->record().kind == JobKind::fc_test);
}

TEST_CASE("an unknown key is refused with its line and column") {
  check_refused("sets: [iso]\nspeed: 3\n", "my.yaml:2:1: ", "speed");
}

TEST_CASE("an unknown file system, operation or method is refused with its place") {
  check_refused("sets: [iso]\nfile_systems: [ext4, zfs]\n", "my.yaml:2:22: ", "zfs");
  check_refused("sets: [iso]\noperations: [create, erase]\n", "my.yaml:2:22: ", "erase");
  check_refused("sets: [iso]\ncopy_method: dd\n", "my.yaml:2:14: ", "dd");
  check_refused("workload: oltp\nsets: [iso]\n", "my.yaml:1:11: ", "fc-test");
}

TEST_CASE("invalid numbers and those out of range are refused with their place") {
  check_refused("sets: [iso]\nruns: many\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 0\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 10001\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 1.5\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nscale: 0\n", "my.yaml:2:8: ", "scale");
  check_refused("sets: [iso]\nscale: nan\n", "my.yaml:2:8: ", "scale");
  check_refused("sets: [iso]\nthreads: 1025\n", "my.yaml:2:10: ", "threads");
  check_refused("sets: [iso]\nblock_size: 0\n", "my.yaml:2:13: ", "1 GiB");
  check_refused("sets: [iso]\nblock_size: 2 GiB\n", "my.yaml:2:13: ", "1 GiB");
  check_refused("sets: [iso]\nwarm: yes\n", "my.yaml:2:7: ", "true or false");
}

TEST_CASE("empty, missing and invalid lists are refused with their place") {
  check_refused("sets: []\n", "my.yaml:1:7: ", "empty");
  check_refused("sets: [iso]\noperations: []\n", "my.yaml:2:13: ", "empty");
  check_refused("sets: iso\n", "my.yaml:1:7: ", "list");
  check_refused("runs: 3\n", "my.yaml:1:1: ", "sets");
  check_refused("sets: [[iso]]\n", "my.yaml:1:8: ", "");
}

TEST_CASE("operations without what they need are refused") {
  check_refused("sets: [iso]\noperations: [read]\n", "my.yaml:2:13: ", "create");
}

TEST_CASE("invalid YAML, or YAML without a map, is refused with its place") {
  check_refused("sets: [iso\nruns: 3", "my.yaml:", "");
  check_refused("- sets\n", "my.yaml:1:1: ", "");
  check_refused("just words\n", "my.yaml:1:1: ", "");
  check_refused("sets: [iso]\nruns: 3\nruns: 4\n", "my.yaml:3:1: ", "runs");
  CHECK_FALSE(refusal("").empty());
  CHECK_FALSE(refusal(std::string("sets: [\0]", 9)).empty());
}

TEST_CASE("a plan is found in the catalogue or as a file, otherwise there is an error") {
  const TempDir temp;
  std::ofstream(temp / "p.yaml") << "sets: [iso]\nruns: 9\n";
  CHECK(options_of(load(temp / "p.yaml")).runs == 9);
  for (const std::string& name : {temp / "missing.yaml", std::string("no-such-plan")}) {
    try {
      load(name);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(std::string(error.what()).find(name) != std::string::npos);
      CHECK(std::string(error.what()).find("filereel list") != std::string::npos);
    }
  }
}

TEST_CASE("a directory is not a plan") {
  const TempDir temp;
  try {
    load(temp.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(temp.path()) != std::string::npos);
  }
}

TEST_CASE("operations are ordered and unique, starting with create") {
  CHECK(ordered_operations({FcStep::remove, FcStep::create, FcStep::read, FcStep::create}) ==
        std::vector{FcStep::create, FcStep::read, FcStep::remove});
  CHECK_THROWS_AS(ordered_operations({}), Error);
  CHECK_THROWS_AS(ordered_operations({FcStep::read}), Error);
}

TEST_CASE("automatic runs of a plan take the place of the runs of a plan within it") {
  const Plan outer = plan("{runs: auto, jobs: [{job: fc-test, sets: [iso]}, {job: mp3, runs: 3}]}");
  REQUIRE(outer.jobs.size() == 2);
  CHECK_FALSE(outer.jobs[0]->options(0).runs);
  CHECK(outer.jobs[1]->options(0).runs == 3);
}

TEST_CASE("automatic runs have a precision, a budget and limits") {
  CHECK_FALSE(plan("sets: [iso]").auto_runs);
  const Plan usual = plan("{sets: [iso], runs: auto}");
  REQUIRE(usual.auto_runs);
  CHECK(usual.auto_runs->width == doctest::Approx(0.05));
  CHECK(usual.auto_runs->budget_s == doctest::Approx(1800));
  const Plan own =
      plan("{sets: [iso], runs: auto, precision: 2.5 %, budget: 2 h, least_runs: 6, most_runs: 9}");
  REQUIRE(own.auto_runs);
  CHECK(own.auto_runs->width == doctest::Approx(0.025));
  CHECK(own.auto_runs->budget_s == doctest::Approx(7200));
  CHECK(own.auto_runs->least == 6);
  CHECK(own.auto_runs->most == 9);
  check_refused("{sets: [iso], runs: 3, budget: 1 h}", "my.yaml:1:", "runs: auto");
  check_refused("{sets: [iso], precision: 3 %}", "my.yaml:1:", "runs: auto");
  check_refused("{sets: [iso], runs: auto, precision: 0 %}", "my.yaml:1:", "must be a percentage");
  CHECK(plan("{sets: [iso], runs: auto, most_runs: 2}").auto_runs->least == 2);
  check_refused("{sets: [iso], runs: auto, most_runs: 2, least_runs: 3}",
                "my.yaml:1:", "fewer most_runs");
  check_refused("{sets: [iso], runs: often}", "my.yaml:1:", "runs");
}

TEST_CASE("with several processes, clients is their number for all kinds of jobs") {
  const TempDir folder;
  const std::string path = folder.path() + "/p.yaml";
  std::ofstream(path) << "jobs:\n- {job: programs, clients: 4}\n- {job: random-read, clients: 1}\n"
                         "- app-git-clone\n";
  const Plan some = load(path, of_processes());
  CHECK(some.jobs[0]->clients(0) == 4);
  CHECK(some.jobs[1]->clients(0) == 1);
  CHECK(some.jobs[2]->clients(0) == 0);  // all
  CHECK_THROWS_AS(load(path), Error);
}

TEST_CASE("a sweep over numbers of clients has different ones, and not too many points") {
  const auto load_swept = [](std::vector<std::string> counts) {
    PlanOverrides overrides = of_processes();
    overrides.sweep["clients"] = std::move(counts);
    return load("programs", overrides).jobs.front()->points();
  };
  CHECK(load_swept({"1", "2", "4"}) == 3);
  CHECK_THROWS_AS(load_swept({"2", "2"}), Error);
  std::vector<std::string> many;
  for (int i = 1; i <= 10'001; ++i) many.push_back(std::to_string(i));
  CHECK_THROWS_AS(load_swept(many), Error);
}

}  // namespace
}  // namespace filereel
