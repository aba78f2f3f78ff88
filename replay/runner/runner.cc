#include "replay/runner/runner.h"

#include <algorithm>
#include <memory>

#include <errno.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/catalog.h"
#include "filesets/error.h"
#include "filesets/units.h"
#include "replay/runner/preparation.h"
#include "replay/runner/step.h"
#include "replay/runner/step_watch.h"

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

std::string divergence_text(const StepInfo& step, const DivergenceExample& what) {
  const std::string result =
      what.result < 0 ? strerror(static_cast<int>(-what.result))
                      : fmt::format("{} bytes instead of {}", what.result, what.expected);
  const std::string_view advice =
      what.result == -ENOSPC || (what.result >= 0 && what.operation == "write")
          ? "; the volume is full: use --scale, fewer --operations or a larger one"
          : "; see the kernel's log (dmesg) for the device";
  return fmt::format("{}, set '{}', {}, run {}: {} of {} failed (operation {}): {}{}",
                     step.file_system, step.set, step.operation, step.run, what.operation,
                     what.path, what.position + 1, result, advice);
}

class Run {
 public:
  Run(const RunRequest& request, RunObserver& observer, Result& result)
      : request_(request), plan_(request.plan), observer_(observer), result_(result) {}

  bool execute() {
    for (const std::string& set : plan_.sets) sets_.push_back(load_file_set(set, plan_.scale));
    remove_stale_mount_points();
    open_volumes();
    weigh();
    for (const std::optional<FileSystemKind> kind : kinds_) {
      for (const FileSet& set : sets_) {
        if (!run_set(kind, set)) return false;
      }
    }
    near_->finish(request_.keep);
    if (far_) far_->finish(request_.keep);
    result_.complete = true;
    observer_.result_grew(result_);
    return true;
  }

 private:
  void open_volumes() {
    ChosenTargets targets = choose_targets(request_.near, request_.far, request_.power);
    if (!request_.near) {
      const bool images = targets.near.kind == TargetKind::image;
      observer_.notice(fmt::format(
          "volumes: {} and {}, removed at the end{}", targets.near.text(), targets.far->text(),
          images ? "" : "; directories, because nothing may be mounted here (filereel doctor)"));
    }
    const bool formats = targets.near.kind != TargetKind::directory ||
                         (targets.far && targets.far->kind != TargetKind::directory);
    if (!formats) {
      if (request_.file_systems_required) {
        throw Error(ErrorKind::usage,
                    "--fs chooses what to format, and directories are used as they are: leave out "
                    "--fs, or name images or devices");
      }
      kinds_ = {std::nullopt};
    } else {
      const auto usable = usable_file_systems(plan_.file_systems, request_.power,
                                              request_.file_systems_required, result_);
      kinds_.assign(usable.begin(), usable.end());
      for (Target* target : {&targets.near, targets.far ? &*targets.far : nullptr}) {
        if (!target || target->kind != TargetKind::image || target->size > 0) continue;
        const Role role = target == &targets.near ? Role::near : Role::far;
        target->size =
            image_size(sets_, usable, std::max<std::uint64_t>(1, copies_on(role, plan_)));
      }
      check_sets_fit(usable);
    }
    if (!targets.far && copies_on(Role::far, plan_) > 0) {
      std::erase(plan_.operations, FcStep::copy_far);
      result_.warn(
          {"step-skipped", "copy-far is left out: there is no far volume", "name one with --far"});
    }
    if (plan_.fc_test.copy_method == CopyMethod::reflink &&
        std::erase(plan_.operations, FcStep::copy_far) > 0) {
      result_.warn({"step-skipped", "copy-far is left out: a reflink cannot leave its file system",
                    "measure copy-far with --copy-method readwrite"});
    }
    near_ = open_volume(targets.near, options_of(Role::near));
    if (targets.far) far_ = open_volume(*targets.far, options_of(Role::far));
    result_.plan = plan_;
    check_capacity();
  }

  VolumeOptions options_of(Role role) const {
    return {.role = role,
            .power = request_.power,
            .destroy = request_.destroy,
            .keep = request_.keep,
            .makes = [](const FileSystemLimits&) {
              return std::vector{std::string(FcTest::kOriginal), std::string(FcTest::kCopy)};
            }};
  }

  // What cannot fit at all is refused now; the exact check of each set on its fresh volume may come
  // hours later.
  void check_capacity() const {
    constexpr FileSystemLimits kLeast{.cluster = 512};
    for (const FileSet& set : sets_) {
      check_room(set, kLeast, copies_on(Role::near, plan_), near_->capacity(),
                 request_.near ? request_.near->text() : "near");
      if (far_) {
        check_room(set, kLeast, copies_on(Role::far, plan_), far_->capacity(),
                   request_.far ? request_.far->text() : "far");
      }
    }
  }

  // All that can be known of the sets before anything is formatted.
  void check_sets_fit(const std::vector<FileSystemKind>& kinds) const {
    for (const FileSystemKind kind : kinds) {
      for (const FileSet& set : sets_) fit_file_set(set, {file_system_info(kind).limits});
    }
  }

  // A file costs about as much as this many bytes; only the progress display depends on it.
  static constexpr std::uint64_t kFileWeight = 64 << 10;
  static double weight(const FileSet& set) {
    const FileSetTotals totals = set.totals();
    return static_cast<double>(totals.bytes + totals.files * kFileWeight);
  }
  void weigh() {
    for (const FileSet& set : sets_) {
      total_weight_ +=
          weight(set) * static_cast<double>(plan_.operations.size() * plan_.runs * kinds_.size());
    }
  }

  bool run_set(std::optional<FileSystemKind> kind, const FileSet& original) {
    const std::size_t first = result_.measurements.size();
    FittedSet fitted;
    std::unique_ptr<FcTest> test;
    for (std::uint32_t run = 1; run <= plan_.runs; ++run) {
      near_->prepare(kind);
      if (far_) far_->prepare(kind);
      if (run == 1) {
        describe_volumes();
        fitted = fit(original);
        FcTestOptions options = plan_.fc_test;
        options.fill_holes = fitted.holes_filled > 0;
        test = std::make_unique<FcTest>(fitted.set, options);
        if (result_.overhead_ns == 0) result_.overhead_ns = measure_overhead_ns(*test);
        add_measurements(original.name);
      }
      std::size_t at = first;
      for (const FcStep step : plan_.operations) {
        if (!run_step(*test, fitted.set, step, run, result_.measurements[at++], weight(original))) {
          return false;
        }
      }
    }
    return true;
  }

  FittedSet fit(const FileSet& original) {
    std::vector<FileSystemLimits> limits = {near_->limits()};
    if (far_) limits.push_back(far_->limits());
    FittedSet fitted = fit_file_set(original, limits);
    warn_of_fitting(fitted, file_system(), result_);
    if (!fitted.escaped.empty()) {
      result_.escaped_names.push_back({file_system(), original.name, fitted.escaped});
    }
    for (const Role role : {Role::near, Role::far}) {
      const Volume* volume = role == Role::near ? near_.get() : far_.get();
      if (!volume) continue;
      if (const std::optional<std::uint64_t> free = volume->free_bytes()) {
        check_room(fitted.set, volume->limits(), copies_on(role, plan_), *free,
                   volume->describe().target);
      }
      if (const std::optional<std::uint64_t> free = volume->free_entries()) {
        check_entries(fitted.set, copies_on(role, plan_), *free, volume->describe().target);
      }
    }
    return fitted;
  }

  void describe_volumes() {
    for (const Volume* volume : {near_.get(), far_.get()}) {
      if (!volume) continue;
      VolumeDescription description = volume->describe();
      if (description.driver != "kernel") {
        result_.warn({"fuse-driver",
                      fmt::format("{} was served by {}, a FUSE driver: its speed is that of the "
                                  "driver, not of the device",
                                  description.file_system, description.driver),
                      "use a kernel that has the file system's own driver to compare devices"});
      }
      const auto same = [&](const VolumeDescription& other) {
        return other.role == description.role && other.file_system == description.file_system;
      };
      if (std::ranges::none_of(result_.volumes, same)) {
        result_.volumes.push_back(std::move(description));
      }
    }
  }

  // Near's, and far's too where the two differ.
  std::string file_system() const {
    const std::string near = near_->describe().file_system;
    const std::string far = far_ ? far_->describe().file_system : near;
    return near == far ? near : fmt::format("{} to {}", near, far);
  }

  void add_measurements(const std::string& set) {
    const VolumeDescription near = near_->describe();
    for (const FcStep step : plan_.operations) {
      Measurement measurement;
      measurement.workload = plan_.workload;
      measurement.set = set;
      measurement.operation = fc_step_name(step);
      measurement.file_system = file_system();
      measurement.driver = near.driver;
      result_.measurements.push_back(std::move(measurement));
    }
  }

  // False when the stop was requested.
  bool run_step(const FcTest& test, const FileSet& set, FcStep step, std::uint32_t run,
                Measurement& measurement, double step_weight) {
    if (request_.stop.stop_requested()) return false;
    ReplayProgress progress;
    const StepInfo info{measurement.file_system,
                        measurement.set,
                        measurement.operation,
                        run,
                        plan_.runs,
                        test.bytes(),
                        test.files(),
                        total_weight_ > 0 ? done_weight_ / total_weight_ : 0,
                        total_weight_ > 0 ? step_weight / total_weight_ : 0};
    const StepWatch watch(observer_, info, progress);
    StepOutcome outcome = measure_step(test, set, step, {near_.get(), far_.get()},
                                       {.warm = plan_.warm,
                                        .copy_method = plan_.fc_test.copy_method,
                                        .stop = request_.stop,
                                        .progress = &progress});
    done_weight_ += step_weight;
    outcome.sample.run = run;
    if (outcome.complete) {
      warn_of_sample(measurement, outcome.sample);
      measurement.samples.push_back(std::move(outcome.sample));
    } else if (outcome.sample.divergences == 0) {
      return false;
    } else if (is_unsupported_copy(outcome.sample)) {
      const auto method = copy_method_name(plan_.fc_test.copy_method);
      result_.warn({"copy-method-unsupported",
                    fmt::format("{} on {} is not measured: {} does not work there", info.operation,
                                info.file_system, method),
                    "use --copy-method readwrite, which works everywhere"});
    } else {
      const std::string text = divergence_text(info, outcome.sample.examples.front());
      measurement.samples.push_back(std::move(outcome.sample));
      observer_.result_grew(result_);
      near_->check_present();  // throws what explains the divergence better, if so
      if (far_) far_->check_present();
      throw Error(ErrorKind::failed, text);
    }
    observer_.result_grew(result_);
    return true;
  }

  void warn_of_sample(const Measurement& measurement, const Sample& sample) {
    // Of a cold run, more than this share in the caches shows in the figures.
    constexpr double kCold = 0.02;
    if (!plan_.warm && sample.cached_before.value_or(0) > kCold) {
      result_.warn({"not-cold",
                    fmt::format("{}: part of the content was cached before '{}' began ({}), so it "
                                "was faster than the device",
                                measurement.file_system, measurement.operation, sample.cold_method),
                    "run as root, or on a volume that filereel may format; tmpfs is never cold"});
    }
    if (sample.cold_method == "fadvise") {
      result_.warn(
          {"not-cold",
           fmt::format("{}: only file contents could be thrown out of the caches, names and "
                       "inodes stayed",
                       measurement.file_system),
           "run as root, or on a volume that filereel may format"});
    }
    if (sample.moved_no_data) {
      result_.warn({"no-data-moved",
                    fmt::format("{} on {} shared blocks and moved no data: it is not a speed of "
                                "copying",
                                measurement.operation, measurement.file_system),
                    "use --copy-method readwrite to measure copying"});
    }
  }

  const RunRequest& request_;
  Plan plan_;
  RunObserver& observer_;
  Result& result_;
  std::vector<FileSet> sets_;
  std::vector<std::optional<FileSystemKind>> kinds_;
  std::unique_ptr<Volume> near_, far_;
  double total_weight_ = 0, done_weight_ = 0;
};

}  // namespace

bool run_plan(const RunRequest& request, RunObserver& observer, Result& result) {
  result.version = FILEREEL_VERSION;
  result.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time(nullptr)));
  result.host = describe_host();
  result.plan = request.plan;
  return Run(request, observer, result).execute();
}

}  // namespace filereel
