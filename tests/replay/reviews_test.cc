// The suites of five reviews (docs/reviews.md), held to the figures that the reviews printed.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "replay/plan/plan.h"
#include "replay/results/selection.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

struct Suite {
  Plan usual, full;
};

Suite suite(const std::string& name) {
  std::vector<std::string> remarks;
  PlanOverrides overrides;
  Suite both{load_plan({&name, 1}, overrides, remarks), {}};
  overrides.full = true;
  both.full = load_plan({&name, 1}, overrides, remarks);
  return both;
}

// Jobs of that name: of FC-Test one for each set.
std::vector<const Job*> jobs_of(const Plan& plan, std::string_view name) {
  std::vector<const Job*> jobs;
  for (const auto& job : plan.jobs) {
    if (job->record().name == name) jobs.push_back(job.get());
  }
  return jobs;
}

const Job& job_of(const Plan& plan, std::string_view name) {
  const std::vector<const Job*> jobs = jobs_of(plan, name);
  REQUIRE(jobs.size() == 1);
  return *jobs.front();
}

double seconds_per_point(const Job& job) {
  constexpr double kNanoseconds = 1e9;
  return static_cast<double>(job.options(0).time_ns.value()) / kNanoseconds;
}

std::size_t count_beginning(const Plan& plan, std::string_view begin) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.jobs, [&](const auto& job) { return job->record().name.starts_with(begin); }));
}

TEST_CASE("A: points and times of the controllers' review") {
  const auto [usual, full] = suite("review-raid-controllers");
  CHECK(job_of(usual, "iometer-database").points() == 11 * 3);
  CHECK(job_of(full, "iometer-database").points() == 11 * 9);
  // More than 60,000 requests in ten minutes are less than 10 ms each.
  CHECK(seconds_per_point(job_of(full, "response-time")) == 600);
  CHECK(600.0 / 60'000 == doctest::Approx(0.010));
  CHECK(seconds_per_point(job_of(full, "sequential-block-size")) == 60);
  CHECK(job_of(usual, "multi-stream").points() == 2 * 4);
  CHECK(job_of(full, "multi-stream").points() == 2 * 4 * 4);
}

TEST_CASE("A: FC-Test is 40 timings of an array") {
  const auto [usual, full] = suite("review-raid-controllers");
  for (const Plan* plan : {&usual, &full}) {
    std::size_t timings = 0;
    for (const Job* job : jobs_of(*plan, "fc-test")) {
      CHECK(file_systems_of(*job) == std::vector{FileSystemKind::ntfs, FileSystemKind::fat32});
      timings += file_systems_of(*job).size() * job->options(0).operations.size();
      CHECK(runs_of(*job) == 1);
    }
    CHECK(timings == 40);
  }
  CHECK(jobs_of(full, "fc-test").front()->options(0).scale == 1);
}

TEST_CASE("B: sysbench works on 128 files of 80, 240 and 400 MiB") {
  const auto [usual, full] = suite("review-drive-kinds");
  const Job& job = job_of(full, "sysbench-fileio-large");
  CHECK(job.options(0).scale == 1);
  REQUIRE(job.points() == 3);
  const Workload workload = catalogue_workload("sysbench-fileio-large");
  for (const std::uint64_t gib : {10, 30, 50}) {
    const std::uint64_t point = gib / 20;
    const RecipeFiles files = workload.recipe(point, 1).files.front();
    CHECK(files.count == 128);
    CHECK(files.size * files.count == gib << 30);
  }
}

TEST_CASE("C: 36 runs of 20 seconds take 12 minutes") {
  const auto [usual, full] = suite("review-ssd-array");
  // Each is done twice: reads and writes, past the page cache and through it.
  for (const char* name : {"queue-matrix", "cached-direct"}) {
    CAPTURE(name);
    CHECK(job_of(usual, name).points() == 2 * 36);
    const Job& job = job_of(full, name);
    CHECK(static_cast<double>(job.points()) * seconds_per_point(job) == 2 * 12 * 60);
  }
  CHECK(seconds_per_point(job_of(full, "cached-direct-sequential")) == 600);
  const Recipe range = catalogue_workload("cached-maximum").recipe(0, 1);
  CHECK(range.files.front().size == std::uint64_t{32} << 30);
}

TEST_CASE("C: the file server's requests have a mean of 11.08 KiB") {
  const Recipe recipe = catalogue_workload("iometer-fileserver").recipe(0, 1);
  double bytes = 0;
  for (const SizeShare& share : recipe.phases.front().threads.front().access->sizes) {
    bytes += static_cast<double>(share.size) * share.share / 100'000;
  }
  CHECK(bytes / 1024 == doctest::Approx(11.08));
}

TEST_CASE("D: a layout is 54 points of 15 minutes, three are 162 and 40.5 hours") {
  const auto [usual, full] = suite("review-entry-array");
  for (const Plan* plan : {&usual, &full}) {
    std::uint64_t points = 0;
    for (const auto& job : plan->jobs) {
      points += job->points();
      CHECK(runs_of(*job) == 1);
    }
    CHECK(points == 54);
    CHECK(points * 3 == 162);
  }
  double seconds = 0;
  for (const auto& job : full.jobs) {
    seconds += static_cast<double>(job->points()) * seconds_per_point(*job);
  }
  CHECK(seconds * 3 / 3600 == doctest::Approx(40.5));
}

// What measures once at one point: a pattern is a vote.
std::size_t votes_of(const Job& job, const std::string& recipe) {
  CHECK(job.points() == 1);
  return static_cast<std::size_t>(std::ranges::count_if(
      catalogue_workload(recipe).recipe(0).phases, [](const auto& one) { return one.measured; }));
}

TEST_CASE("E: the index has 26 votes, those of NASPT are 46 %") {
  const auto [usual, full] = suite("review-desktop");
  for (const Plan* plan : {&usual, &full}) {
    REQUIRE(plan->indexes.size() == 1);
    const IndexDefinition& index = plan->indexes.front();
    std::size_t votes = 0, naspt = 0;
    for (const auto& job : plan->jobs) {
      const std::string name = job->record().name;
      if (!is_selected(index.patterns, name)) continue;
      const std::size_t own = votes_of(*job, name == "atto-large" ? "atto" : name);
      votes += own;
      if (name.starts_with("naspt-")) naspt += own;
    }
    CHECK(votes == 5 + 7 + 12 + 2);
    CHECK(static_cast<double>(naspt) / static_cast<double>(votes) ==
          doctest::Approx(0.4615).epsilon(0.001));
    CHECK(index.metric == "mb_per_s");
  }
}

TEST_CASE("E: every test five times, with 5, 7 and 12 patterns") {
  const auto [usual, full] = suite("review-desktop");
  for (const Plan* plan : {&usual, &full}) {
    for (const auto& job : plan->jobs) CHECK(runs_of(*job) == 5);
    CHECK(count_beginning(*plan, "pcmark05-") == 5);
    CHECK(count_beginning(*plan, "pcmark-vantage-") == 7);
    CHECK(count_beginning(*plan, "naspt-") == 12);
  }
}

}  // namespace
}  // namespace filereel
