// FC-Test on a file set (traces/fc_test.h) as a job.
#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/specification/specification.h"
#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/access_shapes.h"
#include "replay/jobs/fitting.h"
#include "replay/jobs/job_makers.h"
#include "replay/jobs/room.h"
#include "replay/jobs/work_digest.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/shared_extents.h"

namespace filereel {
namespace {

bool is_copy(FcStep step) {
  return step == FcStep::copy_near || step == FcStep::copy_far;
}

// FC-Test accesses files sequentially from their first to their last byte.
AccessShape shape_of(const FcTestOptions& options) {
  return {false, options.block_size, kCachedDepth};
}

// How many copies of the set the steps create on the volume of that role.
std::uint64_t copies_on(Role role, const std::vector<FcStep>& steps) {
  const auto has = [&](FcStep step) { return contains(steps, step); };
  if (role == Role::near) return has(FcStep::copy_near) ? 2 : 1;
  return role == Role::far && has(FcStep::copy_far) ? 1 : 0;
}

std::vector<Role> volumes_of(FcStep step) {
  if (step == FcStep::copy_far) return {Role::near, Role::far};
  return {Role::near};
}

EntryList directories_of(const EntryList& entries) {
  EntryList directories = entries;
  erase_entries(directories,
                [&](std::size_t i) { return entries.kind(i) != EntryKind::directory; });
  return directories;
}

// A kernel copy may share blocks instead of copying them. Checks a few of the copies.
bool copies_share_blocks(const FileSet& set, const Volume& volume) {
  constexpr std::size_t kLooks = 16;
  const FileList copies(set.entries, std::string(FcTest::kCopy));
  const std::size_t step = std::max<std::size_t>(1, copies.size() / kLooks);
  bool any = false;
  for (std::size_t i = 0; i < copies.size(); i += step) {
    switch (extents_of(volume.root(), copies.path(i))) {
      case Extents::shared:
        any = true;
        break;
      case Extents::own:
        return false;
      case Extents::none:
        break;
    }
  }
  return any;
}

// Errors of a kernel copy that mean "unsupported", not "failed".
bool is_unsupported_copy(const Sample& sample) {
  if (sample.examples.empty()) return false;
  const DivergenceExample& first = sample.examples.front();
  return first.operation == operation_info(OperationKind::copy_range).name &&
         (first.result == -EXDEV || first.result == -EOPNOTSUPP || first.result == -ENOSYS ||
          first.result == -EINVAL || first.result == -ENOTTY);
}

// The copy methods to compare, if there are copy commands: these are further values of a sweep.
SweepOverrides sweep_of(const JobOptions& options) {
  SweepOverrides sweep = options.sweep;
  if (options.copy_commands.empty()) return sweep;
  const auto refuse = [](std::string_view why) {
    throw Error(ErrorKind::usage, fmt::format("copy_command does not apply {}", why));
  };
  if (!options.operations.empty() && std::ranges::none_of(options.operations, is_copy)) {
    refuse("without a copy step: add copy-near or copy-far to the operations");
  }
  if (options.engine == EngineKind::null) refuse("to the null engine, which has no files to copy");
  std::vector<std::string>& methods = sweep["copy_method"];
  if (methods.empty()) methods.emplace_back(copy_method_name(options.fc_test.copy_method));
  methods.insert(methods.end(), options.copy_commands.begin(), options.copy_commands.end());
  return sweep;
}

class FcTestReplay final : public StepReplay {
 public:
  FcTestReplay(const FcTest& test, const FileSet& set, FcStep step, const JobOptions& job)
      : test_(test), set_(set), step_(step), method_(job.fc_test.copy_method) {
    if (is_copy(step) && !job.copy_command.empty()) {
      trace = test.trace_of_copy(step);
      program = CopyProgram{job.copy_command, FcTest::kOriginal, FcTest::kCopy, to_role(),
                            job.fc_test.threads};
    } else {
      trace = test.trace(step);
    }
  }

  // Holes count as content: steps are comparable only if all count the same bytes.
  void count(const ReplayOutcome&, const Volumes& volumes, Sample& sample) const override {
    sample.bytes = step_ == FcStep::remove ? 0 : test_.bytes();
    if (!is_copy(step_)) return;
    if (program) sample.files = test_.files();
    const Volume* to = volumes.of(to_role());
    const bool may_share = program || method_ == CopyMethod::copy_file_range;
    sample.moved_no_data =
        method_ == CopyMethod::reflink || (may_share && to && copies_share_blocks(set_, *to));
  }

 private:
  Role to_role() const { return step_ == FcStep::copy_far ? Role::far : Role::near; }

  const FcTest& test_;
  const FileSet& set_;
  FcStep step_;
  CopyMethod method_;
};

class FittedFcTest final : public FittedJob {
 public:
  FittedFcTest(const FileSet& original, const JobOptions& options, std::vector<FcStep> steps,
               const FittingPlace& place)
      : options_(options),
        fc_steps_(std::move(steps)),
        fitted_(fit_file_set(original, place.volumes.limits())),
        shares_(place.client.share) {
    fitted_.set.seed = place.client.seed_of(original.seed);
    test_.emplace(set(), options_of_test(place.client));
    if (shares_) add_directories();
    const double seconds = creation_seconds(set().totals());
    for (const FcStep step : fc_steps_) {
      steps_.push_back({.operation = std::string(fc_step_name(step)),
                        .volumes = volumes_of(step),
                        .bytes = test_->bytes(),
                        .files = test_->files(),
                        .expected = {.work_s = seconds},
                        .only_reads = step == FcStep::read,
                        .access = shape_of(options.fc_test)});
    }
  }

  const std::vector<Step>& steps() const override { return steps_; }
  const Fitting& fitting() const { return fitted_; }

  Contents contents(Role role) const override {
    const std::uint64_t copies = copies_on(role, fc_steps_);
    const auto number = static_cast<std::size_t>(role);
    const FileSet* const initial = number < directories_.size() ? &directories_[number] : nullptr;
    return {initial, copies > 0 ? &set() : nullptr, copies};
  }

  FileList read_by(std::size_t step, Role role) const override {
    if (fc_steps_[step] == FcStep::create || role != Role::near) return {};
    return FileList(set().entries, std::string(FcTest::kOriginal));
  }

  std::unique_ptr<StepReplay> make_replay(std::size_t step) const override {
    auto replay = std::make_unique<FcTestReplay>(*test_, set(), fc_steps_[step], options_);
    replay->options.engine = options_.engine.value_or(EngineKind::blocking);
    return replay;
  }

  std::unique_ptr<StepReplay> make_overhead_replay(std::size_t step) const override {
    auto replay = make_replay(step);
    return replay->program ? nullptr : std::move(replay);
  }

  std::optional<std::vector<ExpectedTree>> tree_after(std::size_t step, Role role) const override {
    bool original = false, copy = false;
    for (std::size_t i = 0; i <= step; ++i) {
      original = fc_steps_[i] == FcStep::create || (original && fc_steps_[i] != FcStep::remove);
      const FcStep copies = role == Role::near ? FcStep::copy_near : FcStep::copy_far;
      copy = copy || fc_steps_[i] == copies;
    }
    std::vector<ExpectedTree> trees;
    const auto add = [&](std::string_view root, bool files) {
      if (!files && !shares_) return;
      trees.push_back({std::string(root), files ? set().entries : directories_of(set().entries)});
    };
    if (role == Role::near) add(FcTest::kOriginal, original);
    add(FcTest::kCopy, copy);
    return trees;
  }

  std::optional<Warning> unsupported(std::size_t /*step*/, const Sample& sample) const override {
    if (!is_unsupported_copy(sample)) return {};
    return Warning{"copy-method-unsupported",
                   fmt::format("not measured, because {} is unsupported",
                               copy_method_name(options_.fc_test.copy_method)),
                   "use --copy-method readwrite, which works everywhere"};
  }

 private:
  const FileSet& set() const { return fitted_.set; }

  FcTestOptions options_of_test(const ClientRank& client) const {
    FcTestOptions options = options_.fc_test;
    options.fill_holes = fitted_.holes_filled > 0;
    options.near_copy = copies_on(Role::near, fc_steps_) > 1;
    options.far_copy = copies_on(Role::far, fc_steps_) > 0;
    options.shared = client.share;
    options.part = client.part();
    options.parts = client.parts();
    return options;
  }

  // Clients that share the files create and remove none of the directories in a step.
  void add_directories() {
    directories_.resize(2);  // near, far
    const EntryList directories = directories_of(set().entries);
    const auto add = [&](FileSet& volume, std::string_view root) {
      volume.entries.push_back(directory_entry(std::string(root)));
      volume.entries.add_tree(static_cast<std::uint32_t>(volume.entries.size() - 1), directories);
    };
    add(directories_[0], FcTest::kOriginal);
    for (FileSet& volume : directories_) add(volume, FcTest::kCopy);
  }

  JobOptions options_;
  std::vector<FcStep> fc_steps_;
  FittedSet fitted_;
  std::optional<FcTest> test_;        // always set
  bool shares_;                       // files, with other clients
  std::vector<FileSet> directories_;  // by Role; empty unless shared
  std::vector<Step> steps_;
};

class FcTestJob final : public PlainJob {
 public:
  FcTestJob(FileSet set, const JobOptions& options)
      : set_(std::move(set)),
        digest_(file_set_digest(set_)),
        sweep_(JobKind::fc_test, options, sweep_of(options)) {}

  JobRecord record() const override {
    const JobOptions options = sweep_.at(0);
    const FcTestOptions& fc_test = options.fc_test;
    JobRecord record = common_record(JobKind::fc_test, "fc-test", options);
    const Parameters own = {{"block_size", format_binary_size(fc_test.block_size)},
                            {"copy_method", std::string(copy_method_name(fc_test.copy_method))},
                            {"threads", std::to_string(fc_test.threads)}};
    record.settings.insert(record.settings.begin(), own.begin(), own.end());
    record.axes = sweep_.axes();
    for (const SweepAxis& axis : record.axes) {
      std::erase_if(record.settings, [&](const auto& one) { return one.first == axis.name; });
    }
    return record;
  }
  std::string set() const override { return set_.name; }

  WorkRecord work() const override {
    const FileSetTotals totals = set_.totals();
    WorkRecord work{.job = record().name,
                    .set = set_.name,
                    .file = sweep_.at(0).file,
                    .description = set_.description};
    work.add({fmt::format("{} in {}, {}", counted(totals.files, "file"),
                          counted(totals.directories, "directory", "directories"),
                          format_size(totals.bytes))});
    return work;
  }
  std::string work_digest(std::uint64_t) const override { return digest_; }

  std::vector<FileSystemKind> file_systems() const override { return {FileSystemKind::ext4}; }

  std::uint64_t points() const override { return sweep_.points(); }
  Parameters parameters(std::uint64_t point) const override { return sweep_.parameters(point); }
  JobOptions options(std::uint64_t point) const override { return sweep_.at(point); }
  std::string_view room_advice() const override {
    return "use --scale, fewer --operations or a larger volume";
  }

  std::uint64_t turns() const override { return points(); }
  VolumeCount volume_count() const override { return {1, 2}; }

  void check(const PlannedVolumes& volumes) const override {
    for (const auto& limits : volumes.limits()) fit_file_set(set_, limits);
  }

  JobNeeds needs(const PlannedVolumes& volumes) const override {
    JobNeeds needs;
    const std::vector<FcStep> steps = steps_of(sweep_.at(0));
    for (const Role role : {Role::near, Role::far}) {
      const std::uint64_t copies = copies_on(role, steps);
      const auto number = static_cast<std::size_t>(role);
      VolumeNeeds& volume = needs.volumes[number];
      add_needs(set_, volumes.kinds(), copies, volume, volumes.directory(number));
      volume.what = fmt::format("the file set '{}'", set_.name);
    }
    needs.seconds = creation_seconds(set_.totals()) * static_cast<double>(steps.size() * points());
    return needs;
  }

  std::vector<AccessShape> shapes() const override {
    std::vector<AccessShape> shapes;
    for (std::uint64_t point = 0; point < points(); ++point) {
      add_shape(shapes, shape_of(sweep_.at(point).fc_test));
    }
    return shapes;
  }

  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    const JobOptions options = sweep_.at(point);
    std::vector<FcStep> steps = steps_of(options);
    const bool reflink = options.fc_test.copy_method == CopyMethod::reflink;
    if (reflink && steps_of(options, false).size() > steps.size()) {
      place.result.warn({"step-skipped", "copy-far is skipped: a reflink cannot cross file systems",
                         "measure copy-far with --copy-method readwrite"});
    }
    if (place.volumes.near && place.volumes.far.empty() &&
        std::erase(steps, FcStep::copy_far) > 0) {
      place.result.warn(
          {"step-skipped", "copy-far is skipped: there is no far volume", "add one with --far"});
    }
    auto fitted = std::make_unique<FittedFcTest>(set_, options, std::move(steps), place);
    if (place.volumes.near) {
      add_fitting(fitted->fitting(), place.volumes.file_system(), set_.name, place.result);
      warn_of_attributes(set_, place.result);
    }
    return fitted;
  }

 private:
  static std::vector<FcStep> steps_of(const JobOptions& options, bool possible = true) {
    std::vector<FcStep> steps = options.operations;
    for (std::size_t i = 0; options.operations.empty() && i < kFcSteps; ++i) {
      steps.push_back(static_cast<FcStep>(i));
    }
    if (possible && options.fc_test.copy_method == CopyMethod::reflink) {
      std::erase(steps, FcStep::copy_far);
    }
    return steps;
  }

  FileSet set_;
  std::string digest_;
  OptionSweep sweep_;
};

}  // namespace

Jobs make_fc_test_jobs(const JobOptions& options) {
  constexpr std::size_t kMost = SpecificationLimits{}.max_entries;  // the limit of a single set
  Jobs jobs;
  std::size_t entries = 0;
  for (const std::string& name : options.sets) {
    FileSet set = load_file_set(name, options.scale);
    entries += set.entries.size();
    if (!jobs.empty() && entries > kMost) {
      throw Error(ErrorKind::unusable_input,
                  fmt::format("the file sets up to {} have {} in total, more than the limit "
                              "of {}: run them separately",
                              name, counted(entries, "entry", "entries"), kMost));
    }
    JobOptions of_set = options;
    of_set.file = is_catalogue_file_set(name) ? "" : base_name(name);
    jobs.push_back(std::make_unique<FcTestJob>(std::move(set), of_set));
  }
  return jobs;
}

std::unique_ptr<Job> make_fc_test_job(FileSet set, const JobOptions& options) {
  return std::make_unique<FcTestJob>(std::move(set), options);
}

}  // namespace filereel
