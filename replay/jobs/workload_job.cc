// A workload as a job: the phases of its recipe at the points of its sweep.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/units.h"
#include "replay/jobs/access_shapes.h"
#include "replay/jobs/fitting.h"
#include "replay/jobs/job_makers.h"
#include "replay/jobs/limit_checks.h"
#include "replay/jobs/recipe_needs.h"
#include "replay/jobs/room.h"
#include "replay/jobs/work_digest.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/page_cache.h"
#include "traces/workload/recipe_text.h"
#include "traces/workload/synthesis.h"

namespace filereel {
namespace {

// Size of filereel's own images for files that fill their volume.
constexpr std::uint64_t kVolumeToFill = 1 << 30;
// A new name for the file for probing direct I/O: clients may share the directory.
std::string probe_file() {
  std::random_device random;
  return fmt::format(".filereel-probe-{:08x}{:08x}", random(), random());
}
constexpr std::string_view kRoomOfWorkloads = "use --scale or a larger volume";
constexpr std::string_view kLimitAdvice = "use --scale or another file system";

// In results. The text of a time never changes: other text would be another setting.
std::string time_setting(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  if (seconds < 0.9995 || seconds >= 99.95) return format_duration(seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  return fmt::format("1 min {:02} s", std::llround(seconds) - 60);
}

// Exact, for the same reason.
std::string limit_setting(std::uint64_t bytes) {
  std::string text = format_size(bytes);
  return parse_size(text, "limit") == bytes ? text : fmt::format("{} B", bytes);
}

// The end of a time-limited phase.
double seconds_until_end(const RecipePhase& phase) {
  if (phase.stop.time_ns == 0) return 0;
  return static_cast<double>(phase.stop.time_ns + phase.warm_up_ns) * 1e-9;
}

class PhaseReplay final : public StepReplay {
 public:
  explicit PhaseReplay(bool accesses) : accesses_(accesses) {}

  // With accesses at offsets, operations are these accesses. With steps on files, every call is an
  // operation.
  void count(const ReplayOutcome& outcome, const Volumes&, Sample& sample) const override {
    if (!accesses_) return;
    const KindStatistics& reads = outcome.statistics.of(OperationKind::read);
    const KindStatistics& writes = outcome.statistics.of(OperationKind::write);
    sample.operations = reads.count() + writes.count();
  }

 private:
  bool accesses_;
};

// The means of a recipe that the volume and the machine support.
struct SupportedFeatures {
  SynthesisOptions synthesis;
  bool poll = false;
};

// Why threads replace io_uring although the recipe wants it; nothing if they do not. Throws
// Error(failed) if the user wants it.
std::optional<std::string> why_without_uring(const Recipe& recipe, const JobOptions& options) {
  const bool wanted = options.engine ? options.engine == EngineKind::uring : wants_uring(recipe);
  std::optional<std::string> why = wanted ? uring_unavailable_reason() : std::nullopt;
  if (why && options.engine) throw Error(ErrorKind::failed, *why);
  return why;
}

SynthesisOptions synthesis_options(const Recipe& recipe, const JobOptions& options,
                                   const ClientRank& client) {
  return {.depth_as_threads =
              options.engine == EngineKind::blocking || why_without_uring(recipe, options),
          .free_bytes = kVolumeToFill,
          .shared = client.share,
          .part = client.part(),
          .parts = client.parts()};
}

// Throws Error for files that volumes with such limits cannot hold. The result is by Role: a group
// of files has the same names on each of its volumes.
std::vector<FittedTrace> fit_volumes(const Recipe& recipe, const Synthesis& synthesis,
                                     const std::vector<FileSystemLimits>& limits) {
  std::vector<FittedTrace> fitted;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(volumes_of(recipe).back()); ++i) {
    const auto role = static_cast<Role>(i);
    const FittedTrace& trace = fitted.emplace_back(
        fit_trace(synthesis.paths(), TextTable(),
                  {.initial = synthesis.initial(role), .final = synthesis.largest(role)}, limits));
    check_entries(trace.final.entries, strictest(limits), kLimitAdvice);
  }
  return fitted;
}

EngineKind engine_of(const JobOptions& options, const Synthesis& synthesis, std::size_t phase) {
  return options.engine.value_or(synthesis.queues(phase) ? EngineKind::uring
                                                         : EngineKind::blocking);
}

SupportedFeatures supported_features(const Recipe& recipe, const JobOptions& options,
                                     const FittingPlace& place) {
  SupportedFeatures means{.synthesis = synthesis_options(recipe, options, place.client)};
  means.synthesis.free_bytes = place.free_bytes;
  if (const std::optional<std::string> why = why_without_uring(recipe, options)) {
    place.result.warn({"io-uring-unavailable", *why,
                       "blocking threads replace the requests in flight, one thread for each"});
  }
  const std::vector<Volume*> volumes = place.volumes.list(volumes_of(recipe));
  if (volumes.empty()) return means;
  bool polls = wants_polling(recipe) && !means.synthesis.depth_as_threads;
  for (const Volume* volume : volumes) {
    if (!polls) break;
    const std::optional<std::string> why = polling_unavailable_reason(volume->root());
    if (!why) continue;
    polls = false;
    place.result.warn(
        {"polling-unavailable", *why, "remove poll, or use a device with polling queues"});
  }
  const std::optional<DirectAccess> access = smallest_direct_access(recipe);
  if (!access) return means;
  for (const Volume* volume : volumes) {
    if (can_do_direct_io(volume->root(), probe_file(), access->size, access->align)) continue;
    means.synthesis.direct = false;
    place.result.warn(
        {"direct-io-unavailable",
         fmt::format("{} does not support direct I/O of {} at multiples of {}: the page cache was "
                     "used",
                     volume->describe().file_system, format_binary_size(access->size),
                     format_binary_size(access->align)),
         access->size % 4096 == 0 && access->align % 4096 == 0
             ? "compare this with nothing that used direct I/O; another file system may support it"
             : "use multiples of 4 KiB, or another file system"});
  }
  means.poll = polls && means.synthesis.direct;
  return means;
}

class FittedWorkload final : public FittedJob {
 public:
  FittedWorkload(Recipe recipe, const JobOptions& options, const std::string& name, bool rates,
                 const FittingPlace& place)
      : recipe_(std::move(recipe)),
        options_(options),
        means_(supported_features(recipe_, options, place)),
        synthesis_(recipe_, means_.synthesis),
        fitted_(fit_volumes(recipe_, synthesis_, place.volumes.limits())) {
    if (place.volumes.near) {
      add_fitting(fitted_.front(), place.volumes.near->describe().file_system, name, place.result);
    }
    for (std::size_t i = 0; i < recipe_.phases.size(); ++i) {
      const RecipePhase& phase = recipe_.phases[i];
      const std::vector<Role> volumes = volumes_of(recipe_, phase);
      steps_.push_back(
          {.operation = phase.name,
           .measured = phase.measured,
           .caches = phase.caches,
           .volumes = volumes,
           .apart = volumes.size() > 1,
           .bytes = synthesis_.bytes(i),
           .ends_after_s = seconds_until_end(phase),
           .idle_ns = phase.idle_ns,
           .rates = rates,
           .expected = expected_time(recipe_, i, synthesis_),
           .only_reads = only_reads(phase),
           .access = volumes.front() == Role::near ? access_shape(phase) : std::nullopt,
           .without_direct_io = !means_.synthesis.direct &&
                                std::ranges::any_of(phase.threads, &RecipeThreads::direct)});
      // Without direct I/O, latencies are those of the page cache. The baseline is of one volume.
      std::optional<AccessShape>& access = steps_.back().access;
      if (access && (!means_.synthesis.direct || volumes.size() > 1)) {
        access->latency_comparable = false;
      }
    }
  }

  const std::vector<Step>& steps() const override { return steps_; }

  Contents contents(Role role) const override {
    const auto number = static_cast<std::size_t>(role);
    if (number >= fitted_.size()) return {};
    return {&fitted_[number].initial, &fitted_[number].final, 1};
  }

  FileList read_by(std::size_t step, Role role) const override {
    const FittedTrace& fitted = fitted_[static_cast<std::size_t>(role)];
    const FileSet& set = step == 0 ? fitted.initial : fitted.final;
    return FileList(set.entries, "", [&](std::string_view path) {
      const std::string_view group = path.substr(0, path.find('/'));
      return std::ranges::any_of(recipe_.phases[step].threads, [&](const RecipeThreads& threads) {
        return recipe_.files[threads.files].name == group;
      });
    });
  }

  std::unique_ptr<StepReplay> make_replay(std::size_t step) const override {
    const RecipePhase& phase = recipe_.phases[step];
    auto replay = std::make_unique<PhaseReplay>(has_accesses(phase));
    replay->trace = synthesis_.trace(step);
    if (const auto& tables = fitted_.front().tables) replay->trace.paths = &tables->paths;
    replay->options.engine = engine_of(options_, synthesis_, step);
    replay->options.poll = means_.poll && phase.poll;
    replay->options.warm_up_ns = phase.warm_up_ns;
    replay->options.run_for_ns = phase.stop.time_ns;
    return replay;
  }

  std::optional<std::vector<ExpectedTree>> tree_after(std::size_t, Role role) const override {
    const auto number = static_cast<std::size_t>(role);
    if (number >= fitted_.size() || changes_files(recipe_)) return {};
    return std::vector{ExpectedTree{"", fitted_[number].initial.entries}};
  }

 private:
  const Recipe recipe_;
  JobOptions options_;
  SupportedFeatures means_;
  Synthesis synthesis_;
  std::vector<FittedTrace> fitted_;  // by Role
  std::vector<Step> steps_;
};

class WorkloadJob final : public PlainJob {
 public:
  WorkloadJob(Workload workload, const JobOptions& options)
      : workload_(std::move(workload)), options_(options) {
    if (options_.verify != Verification::tree) return;
    for (std::uint64_t point = 0; point < points(); ++point) {
      if (!changes_files(recipe_at(point))) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("--verify tree does not apply to {}: its phases create, remove or "
                              "resize files",
                              workload_.name));
    }
  }

  JobRecord record() const override {
    JobRecord record = common_record(JobKind::workload, workload_.name, options_);
    record.axes = workload_.axes();
    record.analysis = workload_.analysis;
    if (options_.limit > 0 && fills_volume(recipe_at(0))) {
      record.settings.emplace_back("limit", limit_setting(options_.limit));
    }
    if (options_.time_ns) record.settings.emplace_back("time", time_setting(*options_.time_ns));
    return record;
  }

  WorkRecord work() const override {
    WorkRecord work{
        .job = workload_.name, .file = options_.file, .description = workload_.description};
    Recipe recipe = recipe_at(0);
    for (RecipeFiles& files : recipe.files) files.set = base_name(files.set);
    work.add(recipe_lines(recipe));
    return work;
  }
  std::string work_digest(std::uint64_t point) const override {
    Recipe recipe = workload_.recipe(point);
    recipe.scale = options_.scale;  // of its file sets, which may be too large otherwise
    return recipe_digest(recipe);
  }

  std::uint64_t points() const override { return workload_.points(); }
  Parameters parameters(std::uint64_t point) const override { return workload_.parameters(point); }
  JobOptions options(std::uint64_t) const override { return options_; }
  std::vector<FileSystemKind> file_systems() const override {
    return parse_file_systems(workload_.file_systems);
  }
  std::optional<std::uint32_t> runs() const override { return workload_.runs; }
  std::string_view room_advice() const override { return kRoomOfWorkloads; }
  bool scales() const override { return !fills_volume(recipe_at(0)); }

  // The same at all points: volumes are not swept.
  VolumeCount volume_count() const override {
    const Recipe recipe = workload_.recipe(0);
    const std::vector<Role> named = volumes_of(recipe);
    const std::size_t least = named.empty() ? 1 : static_cast<std::size_t>(named.back()) + 1;
    const bool any = std::ranges::any_of(
        recipe.files, [](const RecipeFiles& files) { return files.volumes.empty(); });
    return {least, any ? kRoles : least};
  }

  bool follows(std::uint64_t before, std::uint64_t point) const override {
    const Recipe next = recipe_at(point);
    if (next.fresh) return false;
    const Recipe last = recipe_at(before);
    return !changes_files(last) && start_from_same_files(last, next);
  }

  JobNeeds needs(const PlannedVolumes& volumes) const override;
  void check(const PlannedVolumes& volumes) const override;

  std::vector<AccessShape> shapes() const override {
    std::vector<AccessShape> shapes;
    for (std::uint64_t point = 0; point < points(); ++point) {
      for (const RecipePhase& phase : recipe_at(point).phases) {
        const auto shape = phase.measured ? access_shape(phase) : std::nullopt;
        if (shape) add_shape(shapes, *shape);
      }
    }
    return shapes;
  }

  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    Recipe recipe = recipe_of_client(point, place.client.trees());
    recipe.seed = place.client.seed_of(recipe.seed);
    if (place.client.share) share_recipe(recipe, place.client.parts());
    name_volumes(recipe, std::max<std::size_t>(1, place.volumes.all().size()));
    if (options_.time_ns) {
      for (const std::string& phase : set_time(recipe, *options_.time_ns)) {
        place.result.warn(
            {"time-not-kept",
             fmt::format("--time does not limit {} of {}: a later phase needs its files", phase,
                         workload_.name),
             "use --scale to shorten it"});
      }
    }
    if (options_.limit > 0 && !fills_volume(recipe)) {
      place.result.warn({"limit-unused",
                         fmt::format("--limit does not apply to {}: none of its files fill the "
                                     "volume",
                                     workload_.name),
                         "use --scale for files of a given size"});
    }
    FittingPlace here{place.volumes, place.volumes.near ? place.free_bytes : kVolumeToFill,
                      place.result, place.client};
    return std::make_unique<FittedWorkload>(std::move(recipe), options_, workload_.name,
                                            !workload_.analysis.empty(), here);
  }

 private:
  // Of one of so many clients with files of their own.
  Recipe recipe_of_client(std::uint64_t point, std::uint32_t trees) const {
    Recipe recipe = workload_.recipe(point, options_.scale);
    for (RecipeFiles& files : recipe.files) {
      if (files.fill > 0) files.limit = options_.limit / trees;
    }
    // The null engine has no drive that could rest.
    for (RecipePhase& phase : recipe.phases) {
      if (options_.engine == EngineKind::null) phase.idle_ns = 0;
    }
    return recipe;
  }
  Recipe recipe_at(std::uint64_t point) const {
    Recipe recipe = recipe_of_client(point, 1);
    if (options_.time_ns) set_time(recipe, *options_.time_ns);
    return recipe;
  }

  // Whether points with the same files as the one before are not inspected. `entries`: of a point.
  bool too_many(std::size_t entries) const {
    constexpr std::uint64_t kMostLooks = 2'000'000;
    return entries * points() > kMostLooks;
  }

  Workload workload_;
  JobOptions options_;
};

JobNeeds WorkloadJob::needs(const PlannedVolumes& volumes) const {
  JobNeeds needs;
  const std::vector<FileSystemKind> kinds = volumes.kinds();
  for (VolumeNeeds& volume : needs.volumes)
    volume.what = fmt::format("the files of {}", workload_.name);
  bool fills = false;
  std::size_t entries = 0;
  std::optional<Recipe> last;
  ExpectedTime last_time;  // of the last inspected point
  double last_fill_s = 0;  // the same
  for (std::uint64_t point = 0; point < points(); ++point) {
    Recipe recipe = recipe_at(point);
    name_volumes(recipe, volumes.count);
    if (too_many(entries) && start_from_same_files(*last, recipe) && !changes_files(recipe)) {
      needs.seconds += last_time.work_s + last_time.waits_s;
      needs.waits_s += last_time.waits_s;
      if (recipe.fresh) needs.fill_s += last_fill_s;
      continue;
    }
    fills = fills || fills_volume(recipe);
    const Synthesis synthesis(recipe, {.free_bytes = kVolumeToFill});
    std::size_t here = 0;
    for (std::size_t i = 0; i < volumes.count; ++i) {
      const FileSet& largest = synthesis.largest(static_cast<Role>(i));
      add_needs(largest, kinds, 1, needs.volumes[i], volumes.directory(i));
      here += largest.entries.size();
    }
    entries = std::max(entries, here);
    last_time = {};
    for (std::size_t i = 0; i < recipe.phases.size(); ++i) {
      const ExpectedTime time = expected_time(recipe, i, synthesis);
      last_time = {last_time.work_s + time.work_s, last_time.waits_s + time.waits_s};
    }
    needs.seconds += last_time.work_s + last_time.waits_s;
    needs.waits_s += last_time.waits_s;
    last_fill_s = fill_seconds(recipe, synthesis);
    const bool follows =
        last && !recipe.fresh && !changes_files(*last) && start_from_same_files(*last, recipe);
    if (!follows) needs.fill_s += last_fill_s;
    last = std::move(recipe);
  }
  for (std::size_t i = 0; fills && i < volumes.count; ++i) {
    needs.volumes[i].image = std::max(needs.volumes[i].image, kVolumeToFill);
    needs.volumes[i].adapt();
  }
  return needs;
}

void WorkloadJob::check(const PlannedVolumes& volumes) const {
  std::size_t entries = 0;
  std::optional<Recipe> last;
  for (std::uint64_t point = 0; point < points(); ++point) {
    Recipe recipe = recipe_at(point);
    if (volumes.client.share) share_recipe(recipe, volumes.client.parts());
    name_volumes(recipe, volumes.count);
    if (too_many(entries) && start_from_same_files(*last, recipe) && !changes_files(recipe))
      continue;
    const Synthesis synthesis(recipe, synthesis_options(recipe, options_, volumes.client));
    entries = std::max(entries, synthesis.largest().entries.size());
    for (const auto& limits : volumes.limits()) fit_volumes(recipe, synthesis, limits);
    for (std::size_t i = 0; i < recipe.phases.size(); ++i) {
      check_resources(synthesis.trace(i), engine_of(options_, synthesis, i));
    }
    last = std::move(recipe);
  }
}

}  // namespace

std::unique_ptr<Job> make_workload_job(Workload workload, const JobOptions& options) {
  if (!options.sweep.empty()) workload.set_values(options.sweep);
  if (!options.name.empty()) workload.name = options.name;
  return std::make_unique<WorkloadJob>(std::move(workload), options);
}

}  // namespace filereel
