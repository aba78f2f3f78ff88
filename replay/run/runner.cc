#include "replay/run/runner.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include <fmt/format.h>

#include "filesets/catalog/catalog.h"
#include "filesets/specification/specification.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "replay/run/fio.h"
#include "replay/run/plan_side.h"
#include "replay/run/preparation.h"
#include "replay/run/prepared_volume.h"
#include "replay/run/repetitions.h"

namespace filereel {
namespace {

class Run {
 public:
  // `results` by side, one or two.
  Run(const RunRequest& request, RunObserver& observer, std::vector<Result*> results)
      : request_(request),
        run_{request.plan, observer, request.stop, request.began_ns},
        results_(std::move(results)) {
    if (run_.plan.auto_runs) run_.plan.runs = 1;  // so far
  }

  bool execute() {
    load_sets();
    open_volumes();
    if (request_.block_baseline) {
      for (const std::unique_ptr<PlanSide>& side : sides_) {
        if (!side->measure_block_level()) return false;
      }
    }
    if (!measure()) return false;
    for (const std::unique_ptr<Volume>& volume : volumes_) volume->finish(request_.keep);
    for (Result* result : results_) result->complete = true;
    for (const Result* result : results_) run_.observer.result_grew(*result);
    return true;
  }

 private:
  void load_sets() {
    constexpr std::size_t kMost = SpecificationLimits{}.max_entries;  // as one set has
    std::size_t entries = 0;
    for (const std::string& set : run_.plan.sets) {
      sets_.push_back(load_file_set(set, run_.plan.scale));
      entries += sets_.back().entries.size();
      if (sets_.size() == 1 || entries <= kMost) continue;
      throw Error(
          ErrorKind::unusable_input,
          fmt::format("the file sets up to {} have {} entries together, and a run has {} at "
                      "most: run them one after the other",
                      printable(set), entries, kMost));
    }
  }

  Result& result() { return *results_.front(); }

  void open_volumes() {
    Plan& plan = run_.plan;
    ChosenTargets targets = choose_targets(
        {request_.near, request_.far, request_.against, request_.against_far}, request_.power);
    if (!request_.near) {
      const bool images = targets.near.kind == TargetKind::image;
      run_.observer.notice(fmt::format(
          "volumes: {} and {}, removed at the end{}", targets.near.text(), targets.far->text(),
          images ? "" : "; directories, because nothing may be mounted here (filereel doctor)"));
    }
    choose_file_systems(targets);
    if (!targets.far && copies_on(Role::far, plan) > 0) {
      std::erase(plan.operations, FcStep::copy_far);
      result().warn(
          {"step-skipped", "copy-far is left out: there is no far volume", "name one with --far"});
    }
    if (plan.fc_test.copy_method == CopyMethod::reflink &&
        std::erase(plan.operations, FcStep::copy_far) > 0) {
      result().warn({"step-skipped", "copy-far is left out: a reflink cannot leave its file system",
                     "measure copy-far with --copy-method readwrite"});
    }
    open_sides(targets);
    check_capacity(targets);
    for (Result* other : results_) {
      other->plan = plan;
      other->warnings = result().warnings;
    }
  }

  void choose_file_systems(ChosenTargets& targets) {
    const std::vector<Target*> all = targets.all();
    const bool formats = std::ranges::any_of(
        all, [](const Target* one) { return one->kind != TargetKind::directory; });
    if (!formats) {
      if (request_.file_systems_required) {
        throw Error(ErrorKind::usage,
                    "--fs chooses what to format, and directories are used as they are: leave out "
                    "--fs, or name images or devices");
      }
      kinds_ = {std::nullopt};
      return;
    }
    const auto usable = usable_file_systems(run_.plan.file_systems, request_.power,
                                            request_.file_systems_required, result());
    kinds_.assign(usable.begin(), usable.end());
    for (Target* target : all) {
      if (target->kind != TargetKind::image || target->size > 0) continue;
      target->size = image_size(
          sets_, usable, std::max<std::uint64_t>(1, copies_on(role(targets, target), run_.plan)));
    }
    check_sets_fit(usable);
  }

  static Role role(const ChosenTargets& targets, const Target* target) {
    return target == &targets.near || (targets.against && target == &*targets.against) ? Role::near
                                                                                       : Role::far;
  }

  // Volumes of both sides first, so that what is wrong with any is known before any is touched.
  void open_sides(const ChosenTargets& targets) {
    const auto open = [&](const Target& target, Role role) {
      volumes_.push_back(open_volume(target, options_of(role)));
      return volumes_.back().get();
    };
    Volume* near = open(targets.near, Role::near);
    Volume* far = targets.far ? open(*targets.far, Role::far) : nullptr;
    Volume* against = targets.against ? open(*targets.against, Role::near) : nullptr;
    Volume* against_far = targets.against_far ? open(*targets.against_far, Role::far) : far;
    const auto add = [&](Volume& volume, Volume* other, const Target& target) {
      Result& result = *results_[sides_.size()];
      if (against) add_label(volume, result);
      const std::string name = against ? target.text() : "";
      sides_.push_back(std::make_unique<PlanSide>(run_, volume, other, name, result));
    };
    add(*near, far, targets.near);
    if (against) add(*against, against_far, *targets.against);
  }

  VolumeOptions options_of(Role role) const {
    return {
        .role = role, .power = request_.power, .destroy = request_.destroy, .keep = request_.keep};
  }

  // What cannot fit at all is refused now; the exact check of each set on its fresh volume may come
  // hours later.
  void check_capacity(ChosenTargets& targets) const {
    constexpr FileSystemLimits kLeast{.cluster = 512};
    const std::vector<Target*> all = targets.all();  // in the order in which they were opened
    for (const FileSet& set : sets_) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Role of = role(targets, all[i]);
        const std::string name = request_.near ? all[i]->text() : std::string(role_name(of));
        check_room(set, kLeast, copies_on(of, run_.plan), volumes_[i]->capacity(), name);
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

  // All sets on all file systems. Automatic repetitions share the time equally, others take what
  // their set takes.
  bool measure() {
    const std::optional<AutoRuns>& automatic = run_.plan.auto_runs;
    SharedBudget budget(automatic, kinds_.size() * sets_.size());
    double whole = 0;
    for (const FileSet& set : sets_) whole += automatic ? 1 : weight(set);
    whole *= static_cast<double>(kinds_.size());
    Stretch stretch{0, 0};
    for (const std::optional<FileSystemKind> kind : kinds_) {
      for (const FileSet& set : sets_) {
        stretch = {stretch.begin + stretch.length, (automatic ? 1 : weight(set)) / whole};
        if (!measure_set(kind, set, budget.next(), stretch)) return false;
      }
    }
    return true;
  }

  bool measure_set(std::optional<FileSystemKind> kind, const FileSet& set,
                   const std::optional<AutoRuns>& automatic, const Stretch& stretch) {
    for (const std::unique_ptr<PlanSide>& side : sides_) side->begin(kind, set);
    Repetitions repetitions(run_.plan.runs, automatic);
    const NewMeasurements added(results_);
    while (repetitions.next(added.list())) {
      const Stretch all = stretch.part(repetitions.stretch());
      for (const Turn& turn : turns_of(repetitions.run(), sides_.size(), all)) {
        if (!sides_[turn.volume]->repeat(repetitions, turn.stretch)) return false;
      }
    }
    return true;
  }

  const RunRequest& request_;
  PlanRun run_;
  std::vector<Result*> results_;
  std::vector<FileSet> sets_;
  std::vector<std::optional<FileSystemKind>> kinds_;
  std::vector<std::unique_ptr<Volume>> volumes_;  // by ChosenTargets::all()
  std::vector<std::unique_ptr<PlanSide>> sides_;
};

}  // namespace

bool run_plan(const RunRequest& request, RunObserver& observer, Result& result, Result* against) {
  if (request.block_baseline) check_fio();
  std::vector<Result*> results = {&result};
  if (against) results.push_back(against);
  for (Result* one : results) {
    begin_result(*one);
    one->plan = request.plan;
  }
  return Run(request, observer, std::move(results)).execute();
}

}  // namespace filereel
