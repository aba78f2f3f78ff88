#include "replay/run/point_run.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/run/baseline_run.h"
#include "replay/run/client_work.h"
#include "replay/run/fill.h"
#include "replay/run/preconditioning.h"
#include "replay/run/result_filling.h"
#include "replay/run/resumption.h"
#include "replay/run/step_failure.h"

namespace filereel {
namespace {

// "programs", "random-read, depth 4".
std::string name_at(const Job& job, std::uint64_t point) {
  return (job.set().empty() ? job.record().name : job.set()) + point_text(job.parameters(point));
}

void warn_of_no_data(const StepInfo& info, const std::string& name, Result& result) {
  result.warn({"no-data-moved",
               fmt::format("{} on {} shared blocks instead of copying data: its rate is not a "
                           "copy speed",
                           info.operation, info.file_system),
               "to measure copying, use --copy-method readwrite"},
              name);
}

// Also true for a step that the volume does not support, which is then not measured.
bool run_step(const PointRun& point_run, const ClientWork& work, std::size_t step,
              const StepInfo& info, std::span<Measurement> places) {
  const Job& job = *point_run.staged.job;
  Result& result = *point_run.side.result;
  ReplayProgress progress;
  const StepWatch watch(point_run.observer, info, progress);
  const JobOptions options = job.options(point_run.point);
  std::optional<StepSamples> samples;
  try {
    samples = work.measure(step, {.warm = options.warm,
                                  .verify = options.verify,
                                  .may_diverge = job.may_diverge(),
                                  .run_began_ns = point_run.request.began_ns,
                                  .stop = point_run.request.stop,
                                  .progress = &progress,
                                  .continued = point_run.request.continued});
  } catch (const Error&) {
    check_present(point_run.volumes.all());  // throws an error that explains it better
    throw;
  }
  if (!samples) return false;
  Sample& sample = samples->all;
  sample.run = info.run;
  name_full_volumes(point_run.volumes, sample);
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
      name_full_volumes(point_run.volumes, samples->by_volume[i]);
      result.add(places[i + 1], std::move(samples->by_volume[i]));
    }
    point_run.observer.result_grew(result);
  }
  if (!failed) return true;
  throw_failure(info, examples.front(), point_run.volumes.all(), job.room_advice());
}

// Of a step at this point, without what depends on the step.
StepInfo step_info(const PointRun& point_run) {
  return {.file_system = point_run.volumes.near ? point_run.volumes.file_system() : "",
          .set = name_at(*point_run.staged.job, point_run.point),
          .operation = "",
          .run = point_run.repetitions.run(),
          .runs = point_run.repetitions.runs(),
          .volume = point_run.side.name,
          .job = point_run.staged.job->record().name,
          .of_set = point_run.staged.job->set(),
          .point = point_run.staged.job->parameters(point_run.point)};
}

// Without I/O, for the time of a condition or of a step. Returns false if the stop was requested.
bool idle_before(const PointRun& point_run, std::uint64_t idle_ns) {
  if (idle_ns == 0) return true;
  Preparing preparing{
      .observer = point_run.observer, .step = step_info(point_run), .stop = point_run.request.stop};
  preparing.step.left_s = point_run.estimate.left_s();
  return rest_drive(idle_ns, preparing);
}

bool measure_steps(const PointRun& point_run, const ClientWork& work, std::size_t measurement) {
  const std::vector<Step>& steps = work.fitted().steps();
  StepInfo info = step_info(point_run);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (point_run.request.stop.stop_requested() || !idle_before(point_run, steps[i].idle_ns)) {
      return false;
    }
    info.operation = steps[i].operation;
    info.measured = steps[i].measured;
    info.bytes = steps[i].bytes;
    info.files = steps[i].files;
    info.operations = steps[i].operations;
    info.seconds = steps[i].ends_after_s;
    const double idle_s = static_cast<double>(steps[i].idle_ns) * 1e-9;  // is over
    info.expected_s = std::max(0.0, point_run.estimate.step_s() - idle_s);
    info.expected_is_measured = point_run.estimate.step_is_measured();
    info.left_s = std::max(0.0, point_run.estimate.left_s() - idle_s);
    const std::size_t count = measurements_of(steps[i]);
    const auto places = std::span(point_run.side.result->measurements).subspan(measurement, count);
    measurement += count;
    if (!run_step(point_run, work, i, info, places)) return false;
    point_run.estimate.step_ended();
  }
  return true;
}

// Without a purge, the result must not claim one.
void warn_of_no_purge(const PointRun& point_run, const Volume& volume) {
  Result& result = *point_run.side.result;
  result.warn({"not-purged",
               fmt::format("{} could not be discarded as a whole: the job began on a drive in an "
                           "unknown state",
                           volume.describe().target),
               "use a block device that supports discards, or sanitise the drive before the run"},
              name_for_warnings(*point_run.staged.job, result));
  JobRecord& record =
      *std::ranges::find(result.plan.jobs, point_run.staged.job->record().name, &JobRecord::name);
  for (auto& [name, value] : record.settings) {
    if (name == "purge") value = "not possible";
  }
}

// What is made of the devices, before they are formatted. Writes that later repetitions build upon
// are made once. Returns false if the stop was requested.
bool prepare_devices(const PointRun& point_run, const DriveCondition& condition,
                     const Preparing& preparing, SideState& state) {
  for (Volume* const volume : point_run.volumes.all()) {
    const auto made = state.made.find(volume);
    const bool kept = made != state.made.end() && condition.keeps_state() &&
                      made->second.purge == condition.purge &&
                      made->second.precondition == condition.precondition;
    state.made.insert_or_assign(volume, condition);
    if (kept) continue;
    if (condition.purge && !volume->purge()) warn_of_no_purge(point_run, *volume);
    if (condition.precondition && !preconditions_files(*volume, *condition.precondition) &&
        !precondition_device(*volume, *condition.precondition, preparing)) {
      return false;
    }
  }
  return true;
}

// The same for what is made with files, on empty volumes.
bool prepare_files(const PointRun& point_run, const DriveCondition& condition,
                   const Preparing& preparing) {
  for (Volume* const volume : point_run.volumes.all()) {
    if (condition.precondition && preconditions_files(*volume, *condition.precondition) &&
        !precondition_files(*volume, *condition.precondition, preparing)) {
      return false;
    }
    if (condition.fill > 0 && !fill_volume(*volume, condition, preparing)) return false;
  }
  return true;
}

// Prepares the volumes of this client. Returns false if the stop was requested.
bool prepare_volumes(const PointRun& point_run, const ClientWork& work, SideState& state) {
  const Volumes& volumes = point_run.volumes;
  for (const Volumes& other : point_run.side.by_part) {
    if (other.near && other.near != volumes.near) other.near->rest();
  }
  const DriveCondition condition = point_run.staged.job->options(point_run.point).condition;
  Preparing preparing{
      .observer = point_run.observer, .step = step_info(point_run), .stop = point_run.request.stop};
  preparing.step.file_system = "";  // not formatted yet
  preparing.step.left_s = point_run.estimate.left_s();
  if (!prepare_devices(point_run, condition, preparing, state)) return false;
  std::optional<Format> format;
  if (const auto kind = point_run.staged.kind) {
    format = condition.format(*kind, point_run.repetitions.run() == 1);
  }
  bool whole = true;
  work.prepare(format, [&] { whole = prepare_files(point_run, condition, preparing); });
  if (!whole) return false;
  for (const Volume* volume : volumes.all()) add_volume(*volume, *point_run.side.result);
  return true;
}

}  // namespace

bool measure_point(const PointRun& point_run, SideState& state) {
  if (point_run.request.stop.stop_requested()) return false;
  const Job& job = *point_run.staged.job;
  Result& result = *point_run.side.result;
  const Volumes& volumes = point_run.volumes;
  const bool prepares = !state.point || !job.follows(*state.point, point_run.point);
  state.point.reset();
  point_run.estimate.begin_unit(point_run.point, point_run.side_index);
  ClientWork work(point_run.clients, point_run.request.clients != nullptr, job, point_run.point,
                  volumes);
  if (prepares) {
    if (!prepare_volumes(point_run, work, state)) return false;
    state.free_bytes = work.free_bytes();
  }
  work.fit(state.free_bytes, result);
  if (prepares && !work.fill(point_run.request.stop)) return false;
  const std::uint64_t rest_ns = job.options(point_run.point).condition.rest_ns;
  if (prepares && !idle_before(point_run, rest_ns)) return false;
  point_run.estimate.prepared(work.fitted().steps());
  if (point_run.repetitions.run() == 1) {
    state.first_measurements[point_run.point] = result.measurements.size();
    if (volumes.near)
      add_baselines(point_run.baselines.by_side[point_run.side_index], volumes.file_system(),
                    result);
    const auto shapes = point_run.baselines.shapes.find(&job);
    const bool has_shapes = volumes.near && shapes != point_run.baselines.shapes.end() &&
                            !point_run.baselines.by_side[point_run.side_index].empty();
    add_measurements(job, point_run.point, volumes, work.fitted(),
                     has_shapes ? &shapes->second : nullptr, result);
  } else if (state.unchecked.erase(point_run.point) > 0) {
    Result expected;
    add_measurements(job, point_run.point, volumes, work.fitted(), nullptr, expected);
    check_resumed(result, state.first_measurements[point_run.point], expected.measurements);
  }
  if (!measure_steps(point_run, work, state.first_measurements[point_run.point])) return false;
  state.point = point_run.point;
  return true;
}

}  // namespace filereel
