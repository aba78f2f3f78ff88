// The loops, from the outside: jobs (each on a file system), repetitions, points of the sweep,
// sides (volumes in turns), steps. Repetitions are outside of points and sides, although that
// formats more often: the state of machine and drive drifts, and so it affects all points and
// volumes alike. The order of the sides is reversed from each repetition, and point, to the next
// (turns_of), for the same reason.
//
// What the loops know of the volumes from round to round is in SideState (point_run.h). Its `point`
// is empty unless the files on a side's volumes are known to be those that the last point left. It
// is reset before a point is measured and set after all its steps are complete, so that any way out
// leaves it empty, and the next point prepares the volumes. Sides that share far volumes reset each
// other's.
//
// Samples go into the result at once, and observer_.result_grew() may save it, so that an
// interruption loses no sample. A measurement of a point is added in the first repetition; later
// ones find it by its number (SideState::first_measurements).
//
// Errors. What the user must fix throws Error from anywhere. With several clients, each may fail
// alone: until the volumes are open, failures are collected by agree(), so that all clients end
// with the same reason; afterwards a failure is announced (fail) and stops the others. finish()
// comes before volumes are removed, since another client may still use the common directory. A stop
// is no error: the functions return false.
//
// All of it runs on one thread, the one that called run_plan(). Others exist only in the replay,
// while several volumes are flushed, in Clients, and for the observer (StepWatch), which reads
// ReplayProgress.
#include "replay/run/runner.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "filesets/ownership/lease.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "replay/jobs/access_shapes.h"
#include "replay/run/baseline_run.h"
#include "replay/run/client_work.h"
#include "replay/run/overhead.h"
#include "replay/run/point_run.h"
#include "replay/run/repetitions.h"
#include "replay/run/result_filling.h"
#include "replay/run/resumption.h"
#include "replay/run/runs_notice.h"
#include "replay/run/stage.h"
#include "replay/run/time_estimate.h"

namespace filereel {
namespace {

// Whether the last sample of any measurement ended at a divergence, as requested.
bool ended_early(std::span<Measurement* const> measurements) {
  return std::ranges::any_of(measurements, [](const Measurement* measurement) {
    return !measurement->samples.empty() && measurement->samples.back().reel &&
           measurement->samples.back().reel->ended_early;
  });
}

// Whether filereel was stopped during this repetition.
bool was_stopped(std::span<Measurement* const> measurements, std::uint32_t run) {
  return std::ranges::any_of(measurements, [&](const Measurement* measurement) {
    return std::ranges::any_of(measurement->samples, [&](const Sample& sample) {
      return sample.run == run && sample.conditions.stops.value_or(0) > 0;
    });
  });
}

// Whether two sides share their far volumes, which then hold the files of the side measured last.
bool share_far(const std::vector<Side>& sides) {
  return sides.size() > 1 && sides.front().by_part.front().far == sides.back().by_part.front().far;
}

// The volumes of a side that a job uses at a point.
Volumes volumes_of(const Job& job, std::uint64_t point, const Side& side) {
  if (needs_no_volume(job)) return {};
  Volumes volumes = side.by_part[job.part(point)];
  volumes.far.resize(std::min(volumes.far.size(), job.volume_count().most - 1));
  return volumes;
}

// An image is faster or slower by where it lies, in memory by 10 to 20 %. So the images of the
// sides change places between repetitions: each gets the file of the next side, the last one that
// of the first. Images that the job does not use keep their files.
void change_places(const Job& job, const std::vector<Side>& sides) {
  std::vector<std::vector<Volume*>> roles(kRoles);  // by role, a volume of each side
  for (const Side& side : sides) {
    const std::vector<Volume*> all = volumes_of(job, 0, side).all();
    for (std::size_t role = 0; role < all.size(); ++role) roles[role].push_back(all[role]);
  }
  for (const std::vector<Volume*>& volumes : roles) {
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      std::size_t next = i + 1;
      while (next < volumes.size() && !volumes[i]->exchange_place(*volumes[next])) ++next;
    }
  }
}

class Run {
 public:
  // `results`: by side.
  Run(const RunRequest& request, Clients& clients, RunObserver& observer,
      std::vector<Result*> results)
      : request_(request), clients_(clients), observer_(observer), results_(std::move(results)) {}

  // Returns false if the stop was requested.
  bool execute() {
    Stage stage;  // outlives the use by all clients
    try {
      const bool whole = measure_all(stage);
      clients_.check_failure();
      if (whole && request_.clients) {
        for (Result* result : results_) gather_warnings(clients_, *result);
      }
      clients_.finish();
      if (!whole) return false;
    } catch (const Clients::Stopped&) {
      clients_.finish();
      return false;
    } catch (const std::exception& error) {
      clients_.fail(failure_text(error));
      clients_.finish();
      throw;
    }
    for (const std::unique_ptr<Volume>& volume : stage.volumes) volume->finish(request_.keep);
    for (Result* result : results_) {
      std::vector<Measurement*> all;
      for (Measurement& measurement : result->measurements) all.push_back(&measurement);
      result->complete = !ended_early(all);
      observer_.result_grew(*result);
    }
    return true;
  }

 private:
  // Those of the type bool return false if the stop was requested.
  bool measure_all(Stage& stage) {
    std::optional<Error> failure;
    MeasurementCounts counts;
    try {
      if (request_.clients) check_clients(clients_, request_.plan);
      counts = measure_overheads();
    } catch (const Error& error) {
      failure = error;
    }
    clients_.agree(failure);
    if (request_.stop.stop_requested()) return false;
    if (request_.clients) {
      check_same_plan(clients_, request_);
      for (Result* result : results_) note_clients(clients_, request_.plan, *result);
    }
    try {
      stage = open_stage(request_, observer_, results_);
    } catch (const Error& error) {
      failure = error;
    }
    clients_.agree(failure);
    stage.take();
    if (request_.targets.near) {
      if (const std::string text = shared_drive_notice(stage); !text.empty()) {
        observer_.notice(text);
      }
    }
    if (request_.targets.control) {
      if (const std::string text = control_notice(stage); !text.empty()) observer_.notice(text);
    }
    announce_runs(stage, counts);
    Baselines baselines;
    const std::vector<AccessShape> shapes = shapes_of_baseline(baselines);
    TimeEstimate estimate = estimate_of(stage, request_, shapes.size());
    announce(estimate);
    return measure_block_level(stage, shapes, baselines) &&
           measure_jobs(stage, baselines, estimate);
  }

  // This reads short traces, so that corrupt ones are found before any volume is touched.
  MeasurementCounts measure_overheads() {
    MeasurementCounts counts;
    Result& result = *results_.front();
    for (const std::unique_ptr<Job>& job : request_.plan.jobs) {
      JobRecord& record =
          *std::ranges::find(result.plan.jobs, job->record().name, &JobRecord::name);
      const std::size_t before = result.warnings.size();
      const auto fitted = job->fit(0, {.volumes = {}, .free_bytes = 0, .result = result});
      name_warnings(*job, before, result);
      auto& planned = counts[job.get()];
      for (const Step& step : fitted->steps()) {
        const Role last_role = step.volumes.empty() ? Role::near : std::ranges::max(step.volumes);
        planned[static_cast<std::size_t>(last_role)] += measurements_of(step);
      }
      // The same for all sets of a job.
      if (record.overhead_ns == 0) {
        record.overhead_ns = measure_overhead_ns(*fitted, request_.stop);
      }
      warn_of_shift(*job, *fitted, result);
    }
    for (Result* other : results_) {
      other->plan = result.plan;
      other->warnings = result.warnings;
    }
    return counts;
  }

  static void warn_of_shift(const Job& job, const FittedJob& fitted, Result& result) {
    if (job.options(0).shift == 0) return;
    if (std::ranges::any_of(fitted.steps(), &Step::only_reads)) return;
    result.warn({"shift-ignored",
                 fmt::format("--shift has no effect on {}: each of its steps also changes files",
                             job.record().name),
                 "use a job with a step that only reads, such as FC-Test"});
  }

  void announce(TimeEstimate& estimate) {
    if (const auto news = estimate.news()) observer_.notice(*news);
  }

  void announce_runs(const Stage& stage, const MeasurementCounts& counts) {
    if (!request_.for_comparison) return;
    PlannedRuns planned = planned_runs(stage, request_.targets.control.has_value(), counts);
    if (stage.sides.size() == 1 && !planned.ranked && has_only_replays(stage)) return;
    for (const StagedJob& staged : stage.jobs) {
      if (is_automatic(*staged.job, request_)) {
        planned.some_automatic = true;
        continue;
      }
      planned.least = std::min(planned.least, runs_of(*staged.job, request_));
    }
    observer_.notice(runs_notice(planned));
  }

  // Those of all jobs; empty without a block baseline.
  std::vector<AccessShape> shapes_of_baseline(Baselines& baselines) const {
    std::vector<AccessShape> shapes;
    if (!request_.block_baseline) return shapes;
    for (const std::unique_ptr<Job>& job : request_.plan.jobs) {
      if (needs_no_volume(*job)) continue;
      const auto& of_job = baselines.shapes[job.get()] = job->shapes();
      for (const AccessShape& shape : of_job) add_shape(shapes, shape);
    }
    return shapes;
  }

  bool measure_block_level(const Stage& stage, const std::vector<AccessShape>& shapes,
                           Baselines& baselines) {
    baselines.by_side.resize(stage.sides.size());
    if (shapes.empty()) return true;
    for (std::size_t i = 0; i < stage.sides.size(); ++i) {
      const Side& side = stage.sides[i];
      if (&side == control_of(stage)) continue;
      Volume* const near = side.by_part.front().near;
      if (!near) continue;
      auto measured = measure_baselines(*near, shapes, observer_, request_.stop, *side.result);
      if (!measured) return false;
      baselines.by_side[i] = std::move(*measured);
    }
    return true;
  }

  // Null without one.
  const Side* control_of(const Stage& stage) const {
    return request_.targets.control ? &stage.sides.back() : nullptr;
  }

  // Automatic repetitions share the budget equally.
  bool measure_jobs(const Stage& stage, const Baselines& baselines, TimeEstimate& estimate) {
    SharedBudget budget(request_.auto_runs, count_automatic(stage, request_));
    const Resumption resumption(stage, request_.begun);
    for (std::size_t i = 0; i < stage.jobs.size(); ++i) {
      const StagedJob& staged = stage.jobs[i];
      const auto limits = is_automatic(*staged.job, request_) ? budget.next() : std::nullopt;
      estimate.begin_job(i, limits ? limits->budget_s : 0);
      const JobProgress before = resumption.take_over(i);
      if (!before.complete &&
          !measure_job(staged, stage.sides, baselines, limits, before, estimate)) {
        return false;
      }
      estimate.end_job();
    }
    return true;
  }

  bool measure_job(const StagedJob& staged, const std::vector<Side>& sides,
                   const Baselines& baselines, const std::optional<AutoRuns>& limits,
                   const JobProgress& before, TimeEstimate& estimate) {
    const Job& job = *staged.job;
    std::vector<SideState> states(sides.size());
    std::vector<std::size_t> begins;  // of its measurements, by side
    for (std::size_t i = 0; i < sides.size(); ++i) {
      std::vector<std::size_t>& first = states[i].first_measurements;
      if (before.repetitions > 0) {
        first = first_measurements(staged, *sides[i].result);
        for (std::uint64_t point = 0; point < job.points(); ++point) {
          states[i].unchecked.insert(point);
        }
      }
      begins.push_back(first.empty() ? sides[i].result->measurements.size()
                                     : std::ranges::min(first));
      first.resize(job.points());
    }
    Repetitions repetitions(
        runs_of(job, request_), limits, now_ns,
        [this](bool ends) { return clients_.value_of_first(ends); },
        job.options(0).condition.steady);
    const NewMeasurements added(results_, begins);
    if (before.repetitions > 0) repetitions.resume(before.repetitions);
    for (std::uint32_t run = 1; run <= before.repetitions; ++run) {
      if (was_stopped(added.list(), run)) repetitions.replace();
    }
    while (!ended_early(added.list()) && repetitions.next(added.list())) {
      estimate.set_runs(repetitions.expected() - before.repetitions);
      announce(estimate);
      for (SideState& state : states) state.point.reset();  // fresh files for each repetition
      if (request_.stop.stop_requested()) return false;     // those of the last one remain
      if (repetitions.run() > 1) change_places(job, sides);
      for (const std::uint64_t point :
           order_of_points(repetitions.run(), job.points(), job.turns())) {
        const auto round = static_cast<std::uint32_t>(repetitions.run() + point);
        for (const std::size_t i : turns_of(round, sides.size())) {
          const Side& side = sides[i];
          const Volumes volumes = volumes_of(job, point, side);
          const PointRun point_run{.request = request_,
                                   .clients = clients_,
                                   .observer = observer_,
                                   .baselines = baselines,
                                   .staged = staged,
                                   .side = side,
                                   .side_index = i,
                                   .volumes = volumes,
                                   .point = point,
                                   .repetitions = repetitions,
                                   .estimate = estimate};
          if (!measure_point(point_run, states[i])) return false;
          if (volumes.far.empty() || !share_far(sides)) continue;
          for (SideState& state : states) {
            if (&state != &states[i]) state.point.reset();
          }
        }
      }
      if (!request_.clients && was_stopped(added.list(), repetitions.run())) repetitions.replace();
    }
    return true;
  }

  const RunRequest& request_;
  Clients& clients_;
  RunObserver& observer_;
  std::vector<Result*> results_;
};

}  // namespace

bool run_plan(const RunRequest& request, RunObserver& observer, Result& result,
              std::span<Result> against) {
  if (request.block_baseline) check_fio();
  std::vector<Result*> results = {&result};
  for (Result& one : against) results.push_back(&one);
  if (request.targets.control) {
    result.control.emplace_back().serials_hidden = result.serials_hidden;
    results.push_back(&result.control.front());
  }
  const std::string session = random_name();
  for (Result* one : results) {
    begin_result(*one, request.plan, request.runs ? std::nullopt : request.auto_runs, session);
  }
  Clients alone;
  const bool whole =
      Run(request, request.clients ? *request.clients : alone, observer, std::move(results))
          .execute();
  for (Result& one : against) one.control = result.control;
  return whole;
}

}  // namespace filereel
