#include "replay/run/workload_run.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/run/fio.h"
#include "replay/run/preparation.h"
#include "replay/run/prepared_volume.h"
#include "replay/run/reel_fit.h"
#include "replay/run/workload_needs.h"
#include "replay/run/workload_reel.h"
#include "replay/run/workload_side.h"
#include "traces/workload/synthesis.h"

namespace filereel {
namespace {

// Of an image of filereel's own for files that fill their volume.
constexpr std::uint64_t kVolumeToFill = 1 << 30;

// Of a file of the user's that is called like what results know otherwise.
std::string name_of(const Workload& workload) {
  const bool reserved = workload.name == kFcTestWorkload || workload.name == kReelWorkload;
  return reserved ? workload.name + ".yaml" : workload.name;
}

class WorkloadRun {
 public:
  // `results` by side, one or two.
  WorkloadRun(const WorkloadRunRequest& request, RunObserver& observer,
              std::vector<Result*> results)
      : request_(request),
        workload_(request.workload),
        observer_(observer),
        results_(std::move(results)),
        points_(request.workload.points()) {}

  bool execute() {
    choose_targets_and_kinds();
    if (is_recorded(recipe_at(request_, 0))) {
      if (!replay_recorded()) return false;
    } else {
      open();
      if (request_.block_baseline && !measure_block_level()) return false;
      SharedBudget budget(request_.auto_runs, kinds_.size());
      const double share = 1 / static_cast<double>(kinds_.size());
      for (std::size_t i = 0; i < kinds_.size(); ++i) {
        const Stretch stretch{static_cast<double>(i) * share, share};
        if (!run_file_system(kinds_[i], budget.next(), stretch)) return false;
      }
      for (const std::unique_ptr<Volume>& volume : volumes_) volume->finish(request_.keep);
    }
    for (Result* result : results_) result->complete = true;
    for (const Result* result : results_) observer_.result_grew(*result);
    return true;
  }

 private:
  Result& result() { return *results_.front(); }

  void choose_targets_and_kinds() {
    targets_ = choose_targets({request_.near, {}, request_.against, {}}, request_.power);
    targets_.far.reset();  // of a run's own targets
    if (!request_.near) {
      const bool image = targets_.near.kind == TargetKind::image;
      observer_.notice(fmt::format(
          "volume: {}, removed at the end{}", targets_.near.text(),
          image ? "" : "; a directory, because nothing may be mounted here (filereel doctor)"));
    }
    choose_file_systems();
    for (Result* other : results_) {
      other->plan = result().plan;
      other->warnings = result().warnings;
    }
  }

  void choose_file_systems() {
    if (targets_.near.kind == TargetKind::directory) {
      if (!request_.file_systems.empty()) {
        throw Error(ErrorKind::usage,
                    "--fs chooses what to format, and a directory is used as it is: leave out "
                    "--fs, or name an image or a device");
      }
      kinds_ = {std::nullopt};
      return;
    }
    const auto usable = usable_file_systems(result().plan.file_systems, request_.power,
                                            !request_.file_systems.empty(), result());
    result().plan.file_systems = usable;
    kinds_.assign(usable.begin(), usable.end());
  }

  bool replay_recorded() {
    const std::size_t parts = kinds_.size() * points_;
    SharedBudget budget(request_.auto_runs, parts);
    Stretch stretch{0, 1 / static_cast<double>(parts)};
    for (const std::optional<FileSystemKind> kind : kinds_) {
      for (std::uint64_t point = 0; point < points_; ++point) {
        if (request_.stop.stop_requested()) return false;
        const ReelRunRequest reel{.target = targets_.near,
                                  .against = targets_.against,
                                  .file_system = kind,
                                  .runs = request_.runs,
                                  .auto_runs = budget.next(),
                                  .warm = request_.warm,
                                  .keep = request_.keep,
                                  .block_baseline = request_.block_baseline,
                                  .destroy = request_.destroy,
                                  .power = request_.power,
                                  .stop = request_.stop,
                                  .began_ns = request_.began_ns,
                                  .workload = result().plan.name,
                                  .parameters = workload_.parameters(point)};
        if (!measure_recorded(recipe_at(request_, point), reel, stretch, observer_, results_)) {
          return false;
        }
        stretch.begin += stretch.length;
      }
    }
    return true;
  }

  // What the points need of a volume.
  struct Needs {
    std::uint64_t image_size = 0;
    bool fills = false;
    FileSet largest;
  };

  Needs look_at_points() {
    constexpr std::uint64_t kMostLooks = 2'000'000;  // at files
    const std::vector<Target*> targets = targets_.all();
    const bool sizes = std::ranges::any_of(targets, [](const Target* one) {
      return one->kind == TargetKind::image && one->size == 0;
    });
    Needs needs;
    std::optional<Recipe> last;
    for (std::uint64_t point = 0; point < points_; ++point) {
      Recipe one = recipe_at(request_, point);
      for (const RecipePhase& phase : one.phases) {
        const auto shape = phase.measured ? access_shape(phase) : std::nullopt;
        if (shape) add_shape(shapes_, *shape);
      }
      const bool many = needs.largest.entries.size() * points_ > kMostLooks;
      if (many && begin_alike(*last, one) && !changes_files(one)) continue;
      needs.fills = needs.fills || fills_volume(one);
      const Synthesis synthesis(one, {.free_bytes = kVolumeToFill});
      if (sizes) {
        needs.image_size = std::max(
            needs.image_size, image_size({&synthesis.largest(), 1}, result().plan.file_systems, 1));
      }
      if (synthesis.largest().totals().bytes >= needs.largest.totals().bytes) {
        needs.largest = synthesis.largest();
      }
      last = std::move(one);
    }
    if (needs.fills) needs.image_size = std::max(needs.image_size, kVolumeToFill);
    return needs;
  }

  // All that can be known of the points before anything is touched; then takes the volumes.
  void open() {
    const Needs needs = look_at_points();
    constexpr FileSystemLimits kLeast{.cluster = 512};
    const auto check_capacity = [&](const Target& target, std::uint64_t bytes) {
      if (needs.fills) return;
      check_room(needs.largest, kLeast, 1, bytes, target.text(), kWorkloadRoomAdvice);
    };
    const std::vector<Target*> targets = targets_.all();
    for (Target* target : targets) {
      if (target->kind == TargetKind::image && target->size == 0) target->size = needs.image_size;
      if (target->size > 0) check_capacity(*target, target->size);  // before the image is made
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      volumes_.push_back(open_volume(*targets[i], {.role = Role::near,
                                                   .power = request_.power,
                                                   .destroy = request_.destroy,
                                                   .keep = request_.keep}));
      if (targets[i]->size == 0) check_capacity(*targets[i], volumes_.back()->capacity());
      if (targets.size() > 1) add_label(*volumes_.back(), *results_[i]);
      sides_.push_back(std::make_unique<WorkloadSide>(request_, observer_, *volumes_.back(),
                                                      targets.size() > 1 ? targets[i]->text() : "",
                                                      *results_[i]));
    }
  }

  bool measure_block_level() {
    for (const std::unique_ptr<WorkloadSide>& side : sides_) {
      if (!side->measure_block_level(shapes_)) return false;
    }
    return true;
  }

  // False when the stop was requested.
  bool run_file_system(std::optional<FileSystemKind> kind, const std::optional<AutoRuns>& automatic,
                       const Stretch& stretch) {
    for (const std::unique_ptr<WorkloadSide>& side : sides_) side->begin(kind);
    Repetitions repetitions(request_.runs, automatic);
    const NewMeasurements added(results_);
    const double share = 1 / static_cast<double>(points_);
    while (repetitions.next(added.list())) {
      for (const std::unique_ptr<WorkloadSide>& side : sides_) side->begin_repetition();
      const Stretch all = stretch.part(repetitions.stretch());
      for (std::uint64_t point = 0; point < points_; ++point) {
        const Stretch here = all.part({static_cast<double>(point) * share, share});
        const auto number = static_cast<std::uint32_t>(repetitions.run() + point);
        for (const Turn& turn : turns_of(number, sides_.size(), here)) {
          if (!sides_[turn.volume]->run_point(repetitions, point, turn.stretch)) return false;
        }
      }
    }
    return true;
  }

  const WorkloadRunRequest& request_;
  const Workload& workload_;
  RunObserver& observer_;
  std::vector<Result*> results_;
  const std::uint64_t points_;
  ChosenTargets targets_;
  std::vector<std::optional<FileSystemKind>> kinds_;
  std::vector<AccessShape> shapes_;               // of all phases that are measured
  std::vector<std::unique_ptr<Volume>> volumes_;  // by ChosenTargets::all()
  std::vector<std::unique_ptr<WorkloadSide>> sides_;
};

}  // namespace

bool run_workload(const WorkloadRunRequest& request, RunObserver& observer, Result& result,
                  Result* against) {
  if (request.block_baseline) check_fio();
  const Workload& workload = request.workload;
  std::vector<Result*> results = {&result};
  if (against) results.push_back(against);
  for (Result* one : results) {
    begin_result(*one);
    Plan& plan = one->plan;
    plan.name = plan.workload = name_of(workload);
    plan.description = workload.description;
    plan.runs = request.auto_runs ? 1 : request.runs;
    plan.auto_runs = request.auto_runs;
    plan.scale = request.scale;
    plan.warm = request.warm;
    plan.file_systems = request.file_systems;
    if (request.file_systems.empty()) {
      for (const std::string& word : workload.file_systems) {
        plan.file_systems.push_back(parse_file_system(word));
      }
    }
    if (!workload.axes().empty()) one->sweeps.push_back({plan.name, workload.axes()});
  }
  return WorkloadRun(request, observer, std::move(results)).execute();
}

}  // namespace filereel
