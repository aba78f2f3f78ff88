#include "replay/run/time_estimate.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/jobs/recipe_needs.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// A run on a clock that only laps advance.
struct TimedRun {
  explicit TimedRun(std::vector<EstimatedJob> plan, std::size_t count = 1)
      : sides(count), estimate(plan, count, 0, 0, [this] { return now; }), parts(std::move(plan)) {}

  void lap(double seconds) {
    now += static_cast<std::uint64_t>(seconds * static_cast<double>(kSecond));
  }
  // A unit of a preparation and one step.
  void unit(double prepare, double step, std::uint64_t point = 0, std::size_t side = 0) {
    estimate.begin_unit(point, side);
    lap(prepare);
    estimate.prepared({{.operation = "replay", .expected = {.work_s = 1}}});
    lap(step);
    estimate.step_ended();
  }

  std::size_t sides;
  std::uint64_t now = 0;
  TimeEstimate estimate;
  std::vector<EstimatedJob> parts;
};

// Only the addresses of jobs are used.
constexpr char kPlaces[2] = {};
const Job* const kJob = reinterpret_cast<const Job*>(&kPlaces[0]);
const Job* const kOtherJob = reinterpret_cast<const Job*>(&kPlaces[1]);

TEST_CASE("before anything is measured the assumed times count") {
  TimedRun run({{.job = kJob, .points = 2, .runs = 3, .unit = {.work_s = 4, .waits_s = 1}}}, 2);
  CHECK(run.estimate.left_s() == doctest::Approx(2 * 2 * 3 * 5));
}

TEST_CASE("after a repetition the measured times count, with what lies between the steps") {
  TimedRun run({{.job = kJob, .runs = 3, .unit = {.work_s = 4}}});
  run.estimate.begin_job(0);
  run.estimate.set_runs(3);
  run.unit(3, 30);
  run.estimate.set_runs(3);
  CHECK(run.estimate.left_s() == doctest::Approx(66));
  run.lap(2);  // such as saving the result
  run.estimate.begin_unit(0, 0);
  run.lap(3);
  run.estimate.prepared({{.operation = "replay"}});
  CHECK(run.estimate.step_is_measured());
  CHECK(run.estimate.step_s() == doctest::Approx(30));
  CHECK(run.estimate.left_s() == doctest::Approx(30 + 33));
  run.lap(10);
  run.estimate.step_ended();
  run.estimate.set_runs(3);
  CHECK(run.estimate.left_s() == doctest::Approx(4 + 20));
}

TEST_CASE("a point that was measured on another volume is expected to take as long") {
  TimedRun run({{.job = kJob, .points = 2, .runs = 1, .unit = {.work_s = 1}}}, 2);
  run.estimate.begin_job(0);
  run.unit(0, 10, 0, 0);
  run.estimate.set_runs(1);
  CHECK(run.estimate.left_s() == doctest::Approx(3 * 10));
  run.unit(0, 20, 0, 1);
  run.unit(0, 30, 1, 0);
  run.estimate.set_runs(1);
  CHECK(run.estimate.left_s() == doctest::Approx(30));
}

// What `measured` says of a part that is `times` as long: the less, the longer it is.
double passed_on(double measured, double times) {
  return std::pow(measured, 1 / (1 + 0.2 * times));
}

TEST_CASE("another job is expected to take longer, too, apart from its waits") {
  TimedRun run({{.job = kJob, .runs = 1, .unit = {.work_s = 1}},
                {.job = nullptr, .runs = 2, .unit = {.work_s = 2, .waits_s = 5}}});
  run.estimate.begin_job(0);
  run.unit(1, 9);
  run.estimate.end_job();
  CHECK(run.estimate.left_s() == doctest::Approx(2 * (5 + passed_on(9, 2) * 2)));
}

TEST_CASE("of other jobs, those of the same kind say more") {
  const auto left_of = [](JobKind kind) {
    TimedRun run({{.job = kJob, .kind = JobKind::fc_test, .unit = {.work_s = 1}},
                  {.job = kOtherJob, .kind = kind, .unit = {.work_s = 1}}});
    run.estimate.begin_job(0);
    run.unit(0, 0.1);
    run.estimate.end_job();
    return run.estimate.left_s();
  };
  CHECK(left_of(JobKind::fc_test) < 0.11);
  CHECK(left_of(JobKind::trace) > 0.13);
}

TEST_CASE("a fast formatting does not make the work of other jobs faster") {
  TimedRun run({{.job = kJob, .runs = 1, .unit = {.work_s = 1}, .prepare_s = 2},
                {.job = nullptr, .runs = 1, .unit = {.work_s = 40}, .prepare_s = 4}});
  run.estimate.begin_job(0);
  run.unit(0.5, 3);
  run.estimate.end_job();
  CHECK(run.estimate.left_s() == doctest::Approx(40 * passed_on(3, 40) + 4 * passed_on(0.25, 2)));
}

TEST_CASE("a step that has ended corrects what is assumed of the next ones") {
  TimedRun run({{.job = kJob, .runs = 2, .unit = {.work_s = 2}}});
  run.estimate.begin_job(0);
  run.estimate.set_runs(2);
  run.estimate.begin_unit(0, 0);
  run.estimate.prepared({{.operation = "create", .expected = {.work_s = 1}},
                         {.operation = "read", .expected = {.work_s = 1}}});
  run.lap(5);
  run.estimate.step_ended();
  CHECK(run.estimate.step_s() == doctest::Approx(5));
}

TEST_CASE("a job on the next file system is expected to take as long as on the first") {
  TimedRun run({{.job = kJob, .runs = 4, .unit = {.work_s = 1}},
                {.job = kJob, .runs = 4, .unit = {.work_s = 1}}});
  run.estimate.begin_job(0);
  run.estimate.set_runs(4);
  run.unit(1, 9);
  run.estimate.set_runs(4);
  CHECK(run.estimate.left_s() == doctest::Approx(7 * 10));
  run.estimate.end_job();  // automatic repetitions may end early
  CHECK(run.estimate.left_s() == doctest::Approx(4 * 10));
}

TEST_CASE("automatic repetitions that have not begun stay within their budget") {
  TimedRun run({{.job = kJob, .runs = 5, .unit = {.work_s = 100}, .most_s = 60},
                {.job = kJob, .runs = 5, .unit = {.work_s = 10}, .most_s = 60}});
  CHECK(run.estimate.left_s() == doctest::Approx(100 + 50));
  CHECK(run.estimate.news() ==
        "estimated time: 2 min 30 s, assuming 200 MB/s until the first repetition has ended; at "
        "most 2 min 40 s, by the budget of automatic repetitions");
}

TEST_CASE("automatic repetitions that have begun stay within what is left of their budget") {
  TimedRun run({{.job = kJob, .runs = 5, .unit = {.work_s = 40}, .most_s = 60}});
  run.estimate.begin_job(0, 70);
  run.unit(0, 40);
  run.estimate.set_runs(5);
  CHECK(run.estimate.left_s() == doctest::Approx(30));
  CHECK(run.estimate.news() ==
        "estimated time by the repetitions so far: 70.0 s, 30.0 s left; the budget of "
        "automatic repetitions limits it");
}

TEST_CASE("the estimate is told with what it assumes, and again if it was wrong") {
  TimedRun run({{.job = kJob, .runs = 4, .unit = {.work_s = 10}}});
  CHECK(run.estimate.news() ==
        "estimated time: 40.0 s, assuming 200 MB/s until the first repetition has ended");
  CHECK_FALSE(run.estimate.news());
  run.estimate.begin_job(0);
  run.estimate.set_runs(4);
  run.unit(1, 19);
  run.estimate.set_runs(4);
  CHECK(run.estimate.news() == "estimated time by the repetitions so far: 80.0 s, 60.0 s left");
  run.unit(1, 21);
  run.estimate.set_runs(4);
  CHECK_FALSE(run.estimate.news());
  TimedRun brief({{.job = kJob, .runs = 4, .unit = {.work_s = 1}}});
  CHECK_FALSE(brief.estimate.news());
}

ExpectedTime time_of(const std::string& phase) {
  const Workload workload = Workload::from_yaml(phase, "test.yaml");
  Recipe recipe = workload.recipe(0);
  name_volumes(recipe, 1);
  return expected_time(recipe, 0, Synthesis(recipe, {}));
}

TEST_CASE("an estimate says how many jobs have no repetition yet") {
  TimedRun run({{.job = kJob, .runs = 1, .unit = {.work_s = 10}},
                {.job = kOtherJob, .runs = 1, .unit = {.work_s = 10}},
                {.job = kJob, .runs = 1, .unit = {.work_s = 10}}});
  run.estimate.begin_job(0);
  run.estimate.set_runs(1);
  run.unit(1, 19);
  run.estimate.end_job();
  CHECK(run.estimate.news().value_or("").ends_with("; 1 of 2 jobs has no complete repetition yet"));
  run.estimate.begin_job(1);
  run.estimate.set_runs(1);
  run.unit(1, 99);
  run.estimate.end_job();
  CHECK(run.estimate.news().value_or("").ends_with(" left"));
}

TEST_CASE("rates and pauses of a workload count") {
  const std::string reads =
      "files: {count: 4, size: 1 MiB}\naccess: {size: 4 KiB, random: 100 %}\n";
  CHECK(time_of(reads + "rate: 50/s\nstop: {operations: 500}\n").waits_s == doctest::Approx(9.98));
  CHECK(
      time_of("files: {count: 4, size: 1 MiB}\nthreads: [{count: 5, access: {size: 4 KiB, random: "
              "100 %}, rate: 50/s}]\nstop: {operations: 500}\n")
          .waits_s == doctest::Approx(1.98));
  CHECK(time_of(reads + "think: 20 ms\nstop: {operations: 101}\n").waits_s == doctest::Approx(2));
  CHECK(time_of(reads + "think: 20 ms\nstop: {operations: 101, time: 1 s}\n").waits_s ==
        doctest::Approx(1));
  CHECK(time_of(reads + "stop: {time: 7 s}\nwarm_up: 2 s\n").waits_s == doctest::Approx(9));
  CHECK(time_of(reads + "rate: 100/s\n").waits_s == doctest::Approx(10.23));  // a pass
  CHECK(time_of("files: {count: 201, size: 1 KiB}\ndo: [read]\nrate: 100/s\n").waits_s ==
        doctest::Approx(2));
  CHECK(time_of(reads).waits_s == 0);
  CHECK(time_of(reads).work_s == doctest::Approx(0.05));
}

}  // namespace
}  // namespace filereel
