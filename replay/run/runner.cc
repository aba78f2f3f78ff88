// The loops, from the outside: jobs (each on a file system), repetitions, points of the sweep,
// sides (volumes in turns), steps. Repetitions are outside of points and sides, although that
// formats more often: the state of machine and drive drifts, and so it affects all points and
// volumes alike. The order of the sides is reversed from each repetition, and point, to the next
// (turns_of), for the same reason.
//
// What is kept between rounds of these loops is only SideState: the files that a side's volumes
// hold. `point` is empty unless they are known to be those that the last point left. It is reset
// before a point is measured and set after all its steps are complete, so that any way out leaves
// it empty, and the next point prepares the volumes. Sides that share far volumes reset each
// other's.
//
// Samples go into the result at once, and observer_.result_grew() may save it, so that an
// interruption loses no sample. A measurement of a point is added in the first repetition; later
// ones find it by its number (SideState::first).
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
#include <map>
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
#include "replay/run/repetitions.h"
#include "replay/run/result_filling.h"
#include "replay/run/runs_notice.h"
#include "replay/run/stage.h"
#include "replay/run/step_failure.h"
#include "replay/run/time_estimate.h"

namespace filereel {
namespace {

// "programs", "random-read, depth 4".
std::string name_at(const Job& job, std::uint64_t point) {
  return (job.set().empty() ? job.record().name : job.set()) + point_text(job.parameters(point));
}

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
bool share_far(const std::vector<VolumeUnderTest>& sides) {
  return sides.size() > 1 && sides.front().by_part.front().far == sides.back().by_part.front().far;
}

// The volumes of a side that a job uses at a point.
Volumes volumes_of(const Job& job, std::uint64_t point, const VolumeUnderTest& side) {
  if (needs_no_volume(job)) return {};
  Volumes volumes = side.by_part[job.part(point)];
  volumes.far.resize(std::min(volumes.far.size(), job.volume_count().most - 1));
  return volumes;
}

// An image is faster or slower by where it lies, in memory by 10 to 20 %. So the images of the
// sides change places between repetitions: each gets the file of the next side, the last one that
// of the first. Images that the job does not use keep their files.
void change_places(const Job& job, const std::vector<VolumeUnderTest>& sides) {
  std::vector<std::vector<Volume*>> roles(kRoles);  // by role, a volume of each side
  for (const VolumeUnderTest& side : sides) {
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

// The state of a side while a job is measured.
struct SideState {
  std::optional<std::uint64_t> point;  // the volumes hold the files that its steps left
  std::uint64_t free_bytes = 0;        // when they were prepared, see FittingPlace
  std::vector<std::size_t> first;      // by point: its first measurement
};

// A point of a job in one repetition, on one side.
struct PointRun {
  const StagedJob& staged;
  const VolumeUnderTest& side;
  Volumes volumes;  // volumes of the side that the job uses
  std::uint64_t point = 0;
  const Repetitions& repetitions;
  TimeEstimate& estimate;
};

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
  // Each of these returns false if the stop was requested.
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
    notice_runs(stage, counts);
    Baselines baselines;
    const std::vector<AccessShape> shapes = shapes_of_baseline(baselines);
    TimeEstimate estimate = estimate_of(stage, request_, shapes.size());
    tell(estimate);
    return measure_block_level(stage, shapes, baselines) &&
           measure_jobs(stage, baselines, estimate);
  }

  // fio's results, and the access shapes. Determining these reads whole traces, so they are kept.
  struct Baselines {
    std::vector<std::vector<BlockBaseline>> by_side;
    std::map<const Job*, std::vector<AccessShape>> shapes;
  };

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
      auto& measured = counts[job.get()];
      for (const Step& step : fitted->steps()) {
        const Role last = step.volumes.empty() ? Role::near : std::ranges::max(step.volumes);
        measured[static_cast<std::size_t>(last)] += measurements_of(step);
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

  void tell(TimeEstimate& estimate) {
    if (const auto news = estimate.news()) observer_.notice(*news);
  }

  void notice_runs(const Stage& stage, const MeasurementCounts& counts) {
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
      const VolumeUnderTest& side = stage.sides[i];
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
  const VolumeUnderTest* control_of(const Stage& stage) const {
    return request_.targets.control ? &stage.sides.back() : nullptr;
  }

  // Automatic repetitions share the budget equally.
  bool measure_jobs(const Stage& stage, const Baselines& baselines, TimeEstimate& estimate) {
    SharedBudget budget(request_.auto_runs, count_automatic(stage, request_));
    for (std::size_t i = 0; i < stage.jobs.size(); ++i) {
      const StagedJob& staged = stage.jobs[i];
      const auto limits = is_automatic(*staged.job, request_) ? budget.next() : std::nullopt;
      estimate.begin_job(i, limits ? limits->budget_s : 0);
      if (!measure_job(staged, stage.sides, baselines, limits, estimate)) return false;
      estimate.end_job();
    }
    return true;
  }

  bool measure_job(const StagedJob& staged, const std::vector<VolumeUnderTest>& sides,
                   const Baselines& baselines, const std::optional<AutoRuns>& limits,
                   TimeEstimate& estimate) {
    const Job& job = *staged.job;
    std::vector<SideState> standing(sides.size());
    for (SideState& one : standing) one.first.resize(job.points());
    Repetitions repetitions(runs_of(job, request_), limits, now_ns,
                            [this](bool ends) { return clients_.value_of_first(ends); });
    const NewMeasurements added(results_);
    while (!ended_early(added.list()) && repetitions.next(added.list())) {
      estimate.set_runs(repetitions.expected());
      tell(estimate);
      for (SideState& one : standing) one.point.reset();  // fresh files for each repetition
      if (request_.stop.stop_requested()) return false;   // the files of the last one stay
      if (repetitions.run() > 1) change_places(job, sides);
      for (const std::uint64_t point :
           order_of_points(repetitions.run(), job.points(), job.turns())) {
        const auto number = static_cast<std::uint32_t>(repetitions.run() + point);
        for (const std::size_t turn : turns_of(number, sides.size())) {
          const VolumeUnderTest& side = sides[turn];
          const Volumes volumes = volumes_of(job, point, side);
          const PointRun turned{staged, side, volumes, point, repetitions, estimate};
          if (!measure_point(turned, turn, baselines, standing[turn])) return false;
          if (volumes.far.empty() || !share_far(sides)) continue;
          for (SideState& one : standing) {
            if (&one != &standing[turn]) one.point.reset();
          }
        }
      }
      if (!request_.clients && was_stopped(added.list(), repetitions.run())) repetitions.replace();
    }
    return true;
  }

  bool measure_point(const PointRun& turned, std::size_t side, const Baselines& baselines,
                     SideState& standing) {
    if (request_.stop.stop_requested()) return false;
    const Job& job = *turned.staged.job;
    Result& result = *turned.side.result;
    const Volumes& volumes = turned.volumes;
    const bool anew = !standing.point || !job.follows(*standing.point, turned.point);
    standing.point.reset();
    turned.estimate.begin_unit(turned.point, side);
    ClientWork work(clients_, request_.clients != nullptr, job, turned.point, volumes);
    if (anew) {
      for (const Volumes& other : turned.side.by_part) {
        if (other.near && other.near != volumes.near) other.near->rest();
      }
      work.prepare(turned.staged.kind);
      for (const Volume* volume : volumes.all()) add_volume(*volume, result);
      standing.free_bytes = work.free_bytes();
    }
    work.fit(standing.free_bytes, result);
    if (anew && !work.fill(request_.stop)) return false;
    turned.estimate.prepared(work.fitted().steps());
    if (turned.repetitions.run() == 1) {
      standing.first[turned.point] = result.measurements.size();
      if (volumes.near) add_baselines(baselines.by_side[side], volumes.file_system(), result);
      const auto shapes = baselines.shapes.find(&job);
      const bool has_shapes =
          volumes.near && shapes != baselines.shapes.end() && !baselines.by_side[side].empty();
      add_measurements(job, turned.point, volumes, work.fitted(),
                       has_shapes ? &shapes->second : nullptr, result);
    }
    if (!measure_steps(turned, work, standing.first[turned.point])) return false;
    standing.point = turned.point;
    return true;
  }

  bool measure_steps(const PointRun& turned, const ClientWork& work, std::size_t measurement) {
    const std::vector<Step>& steps = work.fitted().steps();
    StepInfo info{.file_system = turned.volumes.near ? turned.volumes.file_system() : "",
                  .set = name_at(*turned.staged.job, turned.point),
                  .operation = "",
                  .run = turned.repetitions.run(),
                  .runs = turned.repetitions.runs(),
                  .volume = turned.side.name,
                  .job = turned.staged.job->record().name,
                  .of_set = turned.staged.job->set(),
                  .point = turned.staged.job->parameters(turned.point)};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (request_.stop.stop_requested()) return false;
      info.operation = steps[i].operation;
      info.measured = steps[i].measured;
      info.bytes = steps[i].bytes;
      info.files = steps[i].files;
      info.operations = steps[i].operations;
      info.seconds = steps[i].ends_after_s;
      info.expected_s = turned.estimate.step_s();
      info.expected_is_measured = turned.estimate.step_is_measured();
      info.left_s = turned.estimate.left_s();
      const std::size_t count = measurements_of(steps[i]);
      const auto places = std::span(turned.side.result->measurements).subspan(measurement, count);
      measurement += count;
      if (!run_step(turned, work, i, info, places)) return false;
      turned.estimate.step_ended();
    }
    return true;
  }

  bool run_step(const PointRun& turned, const ClientWork& work, std::size_t step,
                const StepInfo& info, std::span<Measurement> places) {
    const Job& job = *turned.staged.job;
    Result& result = *turned.side.result;
    ReplayProgress progress;
    const StepWatch watch(observer_, info, progress);
    const JobOptions options = job.options(turned.point);
    std::optional<StepSamples> samples;
    try {
      samples = work.measure(step, {.warm = options.warm,
                                    .verify = options.verify,
                                    .may_diverge = job.may_diverge(),
                                    .run_began_ns = request_.began_ns,
                                    .stop = request_.stop,
                                    .progress = &progress,
                                    .continued = request_.continued});
    } catch (const Error&) {
      check_present(turned.volumes.all());  // throws an error that explains it better
      throw;
    }
    if (!samples) return false;
    Sample& sample = samples->all;
    sample.run = info.run;
    name_full_volumes(turned.volumes, sample);
    const bool failed = !job.may_diverge() && sample.divergences > 0;
    if (failed) {
      if (std::optional<Warning> why = work.fitted().unsupported(step, sample)) {
        why->text = fmt::format("{} on {}: {}", info.operation, info.file_system, why->text);
        result.warn(std::move(*why), name_for_warnings(job, result));
        return true;
      }
    }
    if (sample.moved_no_data) warn_of_no_data(info, name_for_warnings(job, result), result);
    const std::vector<DivergenceExample> examples = sample.examples;
    if (!places.empty()) {
      result.add(places.front(), std::move(sample));
      for (std::size_t i = 0; i < samples->by_volume.size(); ++i) {
        samples->by_volume[i].run = info.run;
        name_full_volumes(turned.volumes, samples->by_volume[i]);
        result.add(places[i + 1], std::move(samples->by_volume[i]));
      }
      observer_.result_grew(result);
    }
    if (!failed) return true;
    throw_failure(info, examples.front(), turned.volumes.all(), job.room_advice());
  }

  static void warn_of_no_data(const StepInfo& info, const std::string& name, Result& result) {
    result.warn({"no-data-moved",
                 fmt::format("{} on {} shared blocks instead of copying data: its rate is not a "
                             "copy speed",
                             info.operation, info.file_system),
                 "to measure copying, use --copy-method readwrite"},
                name);
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
