#include "replay/run/plan_side.h"

#include <algorithm>
#include <utility>

#include <errno.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/results/failures.h"
#include "replay/run/overhead.h"
#include "replay/run/preparation.h"
#include "replay/run/prepared_volume.h"
#include "replay/run/step.h"
#include "replay/run/step_watch.h"

namespace filereel {
namespace {

// Errors of a kernel copy that mean "not here" and not "it failed".
bool is_unsupported_copy(const Sample& sample) {
  if (sample.examples.empty()) return false;
  const DivergenceExample& first = sample.examples.front();
  return first.operation == operation_info(OperationKind::copy_range).name &&
         (first.result == -EXDEV || first.result == -EOPNOTSUPP || first.result == -ENOSYS ||
          first.result == -EINVAL || first.result == -ENOTTY);
}

// FC-Test goes through files from their begin to their end.
AccessShape shape_of(const Plan& plan) {
  return {false, plan.fc_test.block_size, kCachedDepth};
}

}  // namespace

bool PlanSide::measure_block_level() {
  const AccessShape shape = shape_of(run_.plan);
  auto measured = measure_baselines(near_, {&shape, 1}, run_.observer, run_.stop, result_);
  if (!measured) return false;
  baselines_ = std::move(*measured);
  return true;
}

void PlanSide::begin(std::optional<FileSystemKind> kind, const FileSet& set) {
  kind_ = kind;
  original_ = &set;
  first_ = result_.measurements.size();
}

void PlanSide::prepare(std::uint32_t run) {
  near_.prepare(kind_);
  if (far_) far_->prepare(kind_);
  if (run > 1) return;
  add_volume(near_, result_);
  if (far_) add_volume(*far_, result_);
  fitted_ = fit();
  FcTestOptions options = run_.plan.fc_test;
  options.fill_holes = fitted_.holes_filled > 0;
  test_ = std::make_unique<FcTest>(fitted_.set, options);
  if (result_.overhead_ns == 0) {
    result_.overhead_ns =
        measure_overhead_ns([this] { return ReadyTrace{test_->trace(FcStep::read)}; }, run_.stop);
  }
  add_measurements();
}

bool PlanSide::repeat(const Repetitions& repetitions, const Stretch& stretch) {
  if (run_.stop.stop_requested()) return false;
  prepare(repetitions.run());
  StepInfo info{.file_system = file_system(),
                .set = original_->name,
                .operation = "",
                .run = repetitions.run(),
                .runs = repetitions.runs(),
                .bytes = test_->bytes(),
                .files = test_->files(),
                .volume = name_};
  const std::vector<FcStep>& steps = run_.plan.operations;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double share = 1.0 / static_cast<double>(steps.size());
    const Stretch part = stretch.part({static_cast<double>(i) * share, share});
    info.done = part.begin;
    info.share = part.length;
    info.operation = fc_step_name(steps[i]);
    if (!run_step(steps[i], info, result_.measurements[first_ + i])) return false;
  }
  return true;
}

FittedSet PlanSide::fit() {
  std::vector<FileSystemLimits> limits = {near_.limits()};
  if (far_) limits.push_back(far_->limits());
  FittedSet fitted = fit_file_set(*original_, limits);
  warn_of_fitting(fitted, file_system(), result_);
  if (!fitted.escaped.empty()) {
    result_.escaped_names.push_back({file_system(), original_->name, fitted.escaped});
  }
  check_room(fitted.set, near_, copies_on(Role::near, run_.plan));
  if (far_) check_room(fitted.set, *far_, copies_on(Role::far, run_.plan));
  return fitted;
}

// Near's, and far's too where the two differ.
std::string PlanSide::file_system() const {
  const std::string near = near_.describe().file_system;
  const std::string far = far_ ? far_->describe().file_system : near;
  return near == far ? near : fmt::format("{} to {}", near, far);
}

void PlanSide::add_measurements() {
  const std::string name = file_system();
  add_baselines(baselines_, name, result_);
  const VolumeDescription near = near_.describe();
  for (const FcStep step : run_.plan.operations) {
    Measurement measurement;
    measurement.workload = run_.plan.workload;
    measurement.set = original_->name;
    measurement.operation = fc_step_name(step);
    measurement.file_system = name;
    measurement.driver = near.driver;
    if (!baselines_.empty()) measurement.access = shape_of(run_.plan);
    result_.measurements.push_back(std::move(measurement));
  }
}

bool PlanSide::run_step(FcStep step, const StepInfo& info, Measurement& measurement) {
  if (run_.stop.stop_requested()) return false;
  ReplayProgress progress;
  const StepWatch watch(run_.observer, info, progress);
  StepOutcome outcome = measure_step(*test_, fitted_.set, step, {&near_, far_},
                                     {.warm = run_.plan.warm,
                                      .copy_method = run_.plan.fc_test.copy_method,
                                      .run_began_ns = run_.began_ns,
                                      .stop = run_.stop,
                                      .progress = &progress});
  outcome.sample.run = info.run;
  if (outcome.complete) {
    if (outcome.sample.moved_no_data) warn_of_no_data(measurement);
    result_.add(measurement, std::move(outcome.sample));
  } else if (outcome.sample.divergences == 0) {
    return false;
  } else if (is_unsupported_copy(outcome.sample)) {
    const auto method = copy_method_name(run_.plan.fc_test.copy_method);
    result_.warn({"copy-method-unsupported",
                  fmt::format("{} on {} is not measured: {} does not work there", info.operation,
                              info.file_system, method),
                  "use --copy-method readwrite, which works everywhere"});
  } else {
    const std::string text =
        describe_failure(fmt::format("{}, set '{}', {}, run {}", info.file_system, info.set,
                                     info.operation, info.run),
                         outcome.sample.examples.front(), kRoomAdvice);
    result_.add(measurement, std::move(outcome.sample));
    run_.observer.result_grew(result_);
    near_.check_present();  // throws what explains the divergence better, if so
    if (far_) far_->check_present();
    throw Error(ErrorKind::failed, text);
  }
  run_.observer.result_grew(result_);
  return true;
}

void PlanSide::warn_of_no_data(const Measurement& measurement) {
  result_.warn({"no-data-moved",
                fmt::format("{} on {} shared blocks and moved no data: it is not a speed of "
                            "copying",
                            measurement.operation, measurement.file_system),
                "use --copy-method readwrite to measure copying"});
}

}  // namespace filereel
