#include "replay/run/point_run.h"

#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/run/baseline_run.h"
#include "replay/run/client_work.h"
#include "replay/run/result_filling.h"
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

bool run_step(const PointRun& turned, const ClientWork& work, std::size_t step,
              const StepInfo& info, std::span<Measurement> places) {
  const Job& job = *turned.staged.job;
  Result& result = *turned.side.result;
  ReplayProgress progress;
  const StepWatch watch(turned.observer, info, progress);
  const JobOptions options = job.options(turned.point);
  std::optional<StepSamples> samples;
  try {
    samples = work.measure(step, {.warm = options.warm,
                                  .verify = options.verify,
                                  .may_diverge = job.may_diverge(),
                                  .run_began_ns = turned.request.began_ns,
                                  .stop = turned.request.stop,
                                  .progress = &progress,
                                  .continued = turned.request.continued});
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
    turned.observer.result_grew(result);
  }
  if (!failed) return true;
  throw_failure(info, examples.front(), turned.volumes.all(), job.room_advice());
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
    if (turned.request.stop.stop_requested()) return false;
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

}  // namespace

bool measure_point(const PointRun& turned, SideState& standing) {
  if (turned.request.stop.stop_requested()) return false;
  const Job& job = *turned.staged.job;
  Result& result = *turned.side.result;
  const Volumes& volumes = turned.volumes;
  const bool anew = !standing.point || !job.follows(*standing.point, turned.point);
  standing.point.reset();
  turned.estimate.begin_unit(turned.point, turned.number);
  ClientWork work(turned.clients, turned.request.clients != nullptr, job, turned.point, volumes);
  if (anew) {
    for (const Volumes& other : turned.side.by_part) {
      if (other.near && other.near != volumes.near) other.near->rest();
    }
    work.prepare(turned.staged.kind);
    for (const Volume* volume : volumes.all()) add_volume(*volume, result);
    standing.free_bytes = work.free_bytes();
  }
  work.fit(standing.free_bytes, result);
  if (anew && !work.fill(turned.request.stop)) return false;
  turned.estimate.prepared(work.fitted().steps());
  if (turned.repetitions.run() == 1) {
    standing.first[turned.point] = result.measurements.size();
    if (volumes.near)
      add_baselines(turned.baselines.by_side[turned.number], volumes.file_system(), result);
    const auto shapes = turned.baselines.shapes.find(&job);
    const bool has_shapes = volumes.near && shapes != turned.baselines.shapes.end() &&
                            !turned.baselines.by_side[turned.number].empty();
    add_measurements(job, turned.point, volumes, work.fitted(),
                     has_shapes ? &shapes->second : nullptr, result);
  }
  if (!measure_steps(turned, work, standing.first[turned.point])) return false;
  standing.point = turned.point;
  return true;
}

}  // namespace filereel
