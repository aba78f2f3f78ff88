#include "replay/run/workload_side.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/results/failures.h"
#include "replay/run/overhead.h"
#include "replay/run/prepared_volume.h"
#include "replay/run/reel_fit.h"
#include "replay/run/step_watch.h"
#include "replay/volumes/direct_io.h"

namespace filereel {
namespace {

// A recipe as one volume can hold it.
class FittedRecipe {
 public:
  FittedRecipe(const Recipe& recipe, const SynthesisOptions& options,
               const FileSystemLimits& limits)
      : synthesis_(recipe, options),
        fitted_(fit_trace(synthesis_.paths(), TextTable(),
                          {.initial = synthesis_.initial(), .final = synthesis_.largest()},
                          limits)) {
    for (const Entry& entry : fitted_.final.entries) {
      if (entry.size <= limits.largest_file) continue;
      throw Error(ErrorKind::failed,
                  fmt::format("the workload makes {} of {} and this file system holds files of at "
                              "most {}: use --scale or another file system",
                              printable(entry.path), format_size(entry.size),
                              format_size(limits.largest_file)));
    }
  }

  const Synthesis& synthesis() const { return synthesis_; }
  const FittedTrace& fitted() const { return fitted_; }
  const PathTable& paths() const {
    return fitted_.tables ? fitted_.tables->paths : synthesis_.paths();
  }

 private:
  Synthesis synthesis_;
  FittedTrace fitted_;
};

}  // namespace

Recipe recipe_at(const WorkloadRunRequest& request, std::uint64_t point) {
  Recipe one = request.workload.recipe(point, request.scale);
  if (request.time_ns) set_time(one, *request.time_ns);
  return one;
}

bool WorkloadSide::measure_block_level(std::span<const AccessShape> shapes) {
  auto measured = measure_baselines(volume_, shapes, observer_, request_.stop, result_);
  if (!measured) return false;
  baselines_ = std::move(*measured);
  return true;
}

void WorkloadSide::begin(std::optional<FileSystemKind> kind) {
  kind_ = kind;
  first_measurement_.assign(request_.workload.points(), 0);
  probed_.reset();
  polling_.reset();
}

bool WorkloadSide::run_point(const Repetitions& repetitions, std::uint64_t point,
                             const Stretch& stretch) {
  if (request_.stop.stop_requested()) return false;
  const Recipe one = recipe_at(request_, point);
  const bool anew = one.fresh || !before_ || changes_files(*before_) || !begin_alike(*before_, one);
  before_.reset();
  if (anew) {
    volume_.prepare(kind_);
    const std::uint64_t free = volume_.free_bytes().value_or(volume_.capacity());
    free_ = free - free / 32;  // clusters that are not full, the file system's own records
    add_volume(volume_, result_);
  }
  const FittedRecipe fitted(one, options_for(one), volume_.limits());
  if (anew) {
    add_fitting(fitted.fitted(), file_system(), result_.plan.name, result_);
    if (!fill_volume(volume_, fitted.fitted().initial, fitted.fitted().final, kWorkloadRoomAdvice,
                     request_.stop)) {
      return false;
    }
    volume_.sync();  // a first phase that keeps the caches is not to write this
  }
  if (repetitions.run() == 1) add_measurements(one, point);
  for (std::size_t phase = 0; result_.overhead_ns == 0 && phase < one.phases.size(); ++phase) {
    result_.overhead_ns = measure_overhead_ns(
        [&] { return ReadyTrace{fitted.synthesis().trace(phase)}; }, request_.stop);
  }
  if (!run_phases({one, fitted.synthesis(), fitted.paths(), fitted.fitted().initial,
                   fitted.fitted().final, volume_},
                  repetitions, point, stretch)) {
    return false;
  }
  before_ = one;
  return true;
}

SynthesisOptions WorkloadSide::options_for(const Recipe& one) {
  SynthesisOptions options{.free_bytes = free_};
  if (wants_uring(one)) {
    if (const std::optional<std::string> why = why_no_uring()) {
      options.depth_as_threads = true;
      result_.warn({"io-uring-unavailable", *why,
                    "what would be in flight together is done by as many threads that block"});
    }
  }
  if (wants_polling(one) && !options.depth_as_threads && !polling_) {
    const std::optional<std::string> why = why_no_polling(volume_.root());
    polling_ = !why;
    if (why) {
      result_.warn({"polling-unavailable", *why, "leave out poll, or use such a device"});
    }
  }
  const std::optional<DirectAccess> access = smallest_direct_access(one);
  if (!access) return options;
  if (probed_ != access) {
    probed_ = access;
    direct_ =
        can_do_direct_io(volume_.root(), std::string(kProbeFile), access->size, access->align);
  }
  options.direct = direct_;
  if (!direct_) {
    result_.warn(
        {"direct-io-unavailable",
         fmt::format("{} does not read and write {} at multiples of {} past the page cache: all "
                     "went through the cache",
                     file_system(), format_binary_size(access->size),
                     format_binary_size(access->align)),
         "use multiples of 4 KiB, or another file system"});
  }
  return options;
}

void WorkloadSide::add_measurements(const Recipe& one, std::uint64_t point) {
  first_measurement_[point] = result_.measurements.size();
  const VolumeDescription volume = volume_.describe();
  add_baselines(baselines_, volume.file_system, result_);
  for (const RecipePhase& phase : one.phases) {
    if (!phase.measured) continue;
    Measurement& measurement = result_.measurements.emplace_back();
    measurement.workload = result_.plan.name;
    measurement.operation = phase.name;
    measurement.file_system = volume.file_system;
    measurement.driver = volume.driver;
    measurement.parameters = request_.workload.parameters(point);
    if (!baselines_.empty()) measurement.access = access_shape(phase);
  }
}

bool WorkloadSide::run_phases(const PreparedRecipe& prepared, const Repetitions& repetitions,
                              std::uint64_t point, const Stretch& stretch) {
  const std::vector<RecipePhase>& phases = prepared.recipe.phases;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    seconds.push_back(expected_seconds(prepared.recipe, prepared.synthesis, i));
  }
  const double whole = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  StepInfo step{.file_system = file_system(),
                .set = describe_point(point),
                .operation = "",
                .run = repetitions.run(),
                .runs = repetitions.runs(),
                .done = stretch.begin,
                .volume = name_};
  std::size_t measurement = first_measurement_[point];
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (request_.stop.stop_requested()) return false;
    step.operation = phases[i].name;
    step.bytes = prepared.synthesis.bytes(i);
    step.seconds = static_cast<double>(phases[i].stop.time_ns + phases[i].warm_up_ns) * 1e-9;
    step.share = stretch.length * seconds[i] / whole;
    Measurement* place = phases[i].measured ? &result_.measurements[measurement++] : nullptr;
    if (!run_phase(prepared, i, step, place)) return false;
    step.done += step.share;
  }
  return true;
}

bool WorkloadSide::run_phase(const PreparedRecipe& prepared, std::size_t phase,
                             const StepInfo& step, Measurement* place) {
  ReplayProgress progress;
  const StepWatch watch(observer_, step, progress);
  PhaseOutcome outcome = measure_phase(prepared, phase,
                                       {.warm = request_.warm,
                                        .poll = direct_ && polling_.value_or(false),
                                        .run_began_ns = request_.began_ns,
                                        .stop = request_.stop,
                                        .progress = &progress});
  Sample& sample = outcome.sample;
  if (!outcome.complete && sample.divergences == 0) return false;
  sample.run = step.run;
  const std::vector<DivergenceExample> failed = sample.examples;
  if (place) {
    result_.add(*place, std::move(sample));
    observer_.result_grew(result_);
  }
  if (outcome.complete) return true;
  volume_.check_present();  // throws what explains the divergence better, if so
  const std::string where =
      fmt::format("{}, {}{}{}, {}, run {}", step.file_system, result_.plan.name,
                  step.set.empty() ? "" : ", ", step.set, step.operation, step.run);
  throw Error(ErrorKind::failed, describe_failure(where, failed.front(), kWorkloadRoomAdvice));
}

// "depth 4, size 8 KiB", or nothing where there is no sweep.
std::string WorkloadSide::describe_point(std::uint64_t point) const {
  std::string text;
  for (const auto& [axis, value] : request_.workload.parameters(point)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  }
  return text;
}

}  // namespace filereel
