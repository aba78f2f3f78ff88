// The problem. A run may take long and destroys what is on its volumes. A fault in the last job
// must not appear after the first one has formatted a drive. So everything that can be known
// beforehand is found in open_stage(), in an order in which each check needs only the ones before
// it:
// - the number of volumes, by all jobs (count_volumes)
// - the targets, compared with each other (choose_targets)
// - the file systems that can be made and mounted here (choose_file_systems)
// - what each job can do on such volumes, and how much space it needs (needs_of_sides); this also
//   sets the size of images
// - the volumes themselves: they are opened, which holds devices and changes nothing (VolumeOpener)
// - the space on all of them together, since several may be on one file system (check_space)
//
// Only then does Stage::take() change anything. A new check belongs in here, a new change never.
//
// Order of members: `volumes` owns; sides and jobs have pointers to volumes and jobs. The request,
// with the plan's jobs, outlives the stage.
#include "replay/run/stage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/ranges.h>
#include <sys/stat.h>

#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/side_needs.h"

namespace filereel {
namespace {

using Kinds = std::vector<FileSystemKind>;

bool holds(const Kinds& kinds, FileSystemKind kind) {
  return contains(kinds, kind);
}

Kinds wanted_by(const Job& job, const RunRequest& request) {
  return request.file_systems.empty() ? file_systems_of(job) : request.file_systems;
}

// The available file systems of all jobs.
Kinds choose_file_systems(const RunRequest& request, std::span<Result* const> results) {
  Kinds wanted;
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    if (needs_no_volume(*job)) continue;
    for (const FileSystemKind kind : wanted_by(*job, request)) {
      if (!holds(wanted, kind)) wanted.push_back(kind);
    }
  }
  Kinds usable =
      usable_file_systems(wanted, request.power, !request.file_systems.empty(), *results.front());
  for (Result* result : results) {
    result->warnings = results.front()->warnings;
    result->plan.file_systems.clear();
    for (const FileSystemKind kind : usable) {
      result->plan.file_systems.emplace_back(file_system_info(kind).name);
    }
  }
  return usable;
}

// Of one repetition, as in StagedJob.
struct JobTime {
  ExpectedTime steps = {};
  double fill_s = 0;
};

// Adds the jobs, file system by file system; `kinds`: those to be formatted, or none.
void add_parts(const RunRequest& request, const Kinds& kinds, std::span<const JobTime> times,
               Stage& stage) {
  const auto add = [&](std::optional<FileSystemKind> kind, const auto& wanted) {
    for (std::size_t i = 0; i < request.plan.jobs.size(); ++i) {
      const Job& job = *request.plan.jobs[i];
      if (wanted(job)) stage.jobs.push_back({&job, kind, times[i].steps, times[i].fill_s});
    }
  };
  for (const FileSystemKind kind : kinds) {
    add(kind, [&](const Job& job) {
      return !needs_no_volume(job) && holds(wanted_by(job, request), kind);
    });
  }
  add({}, [&](const Job& job) { return needs_no_volume(job) || kinds.empty(); });
}

// The client that this process is for a job, with the most clients of all points.
ClientRank client_of(const Job& job, const RunRequest& request) {
  if (!request.clients) return {};
  ClientRank rank{.clients = 1, .share = job.options(0).share};
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    const std::uint32_t wanted = job.clients(point);
    rank.clients = std::max(rank.clients, wanted > 0 ? wanted : request.clients->count());
  }
  rank.client = std::min(request.clients->rank(), rank.clients - 1);
  return rank;
}

FileSystemLimits limits_with(FileSystemKind kind, MountCapability power) {
  const std::optional<Driver> driver = choose_driver(kind, power);
  return driver ? limits_of_driver(driver->name) : file_system_info(kind).limits;
}

// By role, of the volumes of one side.
std::vector<const Target*> targets_of(const SideTargets& side, const SideTargets& first) {
  std::vector<const Target*> targets = {&side.near.front()};
  for (const Target& far : side.far.empty() ? first.far : side.far) targets.push_back(&far);
  return targets;
}

PlannedVolumes planned_for(const Job& job, const RunRequest& request, const Kinds& kinds,
                           const std::vector<const Target*>& targets) {
  PlannedVolumes planned{.count = std::min(targets.size(), job.volume_count().most),
                         .client = client_of(job, request)};
  const Kinds wanted = kinds.empty() ? Kinds() : wanted_by(job, request);
  for (const FileSystemKind kind : kinds) {
    if (holds(wanted, kind)) planned.formatted.push_back({kind, limits_with(kind, request.power)});
  }
  for (const Target* target : targets) {
    const bool directory = target->kind == TargetKind::directory;
    planned.directories.push_back(directory ? std::optional(limits_of_directory(target->path))
                                            : std::nullopt);
  }
  return planned;
}

// Does it, and names the job in errors if the plan has several.
void named(const Job& job, const Plan& plan, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string name = job.record().name, text = error.what();
    if (plan.jobs.size() < 2 || is_about(text, name)) throw;
    throw Error(error.kind(), fmt::format("{}: {}", printable(name), text));
  }
}

// Of all points, each once.
std::vector<DriveCondition> conditions_of(const Job& job) {
  std::vector<DriveCondition> conditions;
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    DriveCondition condition = job.options(point).condition;
    if (!contains(conditions, condition)) conditions.push_back(std::move(condition));
  }
  return conditions;
}

// What the volumes of a run are.
struct PlacesOfRun {
  bool directories = false, formatted = false;
  Kinds kinds = {};  // of those that are formatted
  MountCapability power = MountCapability::none;
};

[[noreturn]] void refuse_condition_of(const Job& job, std::string_view option,
                                      std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("{} does not apply to {}: {}", option,
                                            printable(job.record().name), why));
}

// Throws Error(usage) for a condition that cannot be made on all volumes.
void check_condition(const Job& job, const DriveCondition& condition, const PlacesOfRun& places) {
  constexpr std::string_view kNotFormatted =
      "a directory is on a file system that is not formatted; name an image or a device";
  if (places.directories) {
    if (condition.purge) refuse_condition_of(job, "--purge", kNotFormatted);
    if (!condition.mkfs_options.empty()) refuse_condition_of(job, "--mkfs-options", kNotFormatted);
    if (!condition.mount_options.empty()) {
      refuse_condition_of(job, "--mount-options", kNotFormatted);
    }
  }
  const auto& precondition = condition.precondition;
  if (precondition && places.directories && precondition->on_files == false) {
    refuse_condition_of(job, "--precondition device", "the device below a directory is in use");
  }
  if (precondition && places.directories && places.formatted && !precondition->on_files) {
    refuse_condition_of(job, "--precondition", "only some of the volumes are formatted; add files");
  }
  const bool with_files = condition.fill > 0 || (precondition && precondition->on_files == true);
  for (const FileSystemKind kind : places.kinds) {
    const std::optional<Driver> driver = choose_driver(kind, places.power);
    // The only driver that does not tell how much of a volume is in use.
    if (!with_files || !driver || driver->name != "fusefat") continue;
    refuse_condition_of(job, condition.fill > 0 ? "--fill" : "--precondition files",
                        "fusefat does not report the used space of fat32; use another file system");
  }
}

// Adds warnings for options of file systems that are not formatted.
void warn_of_unused_options(const DriveCondition& condition, const PlacesOfRun& places,
                            std::span<Result* const> results) {
  for (const std::vector<std::string>* const texts :
       {&condition.mkfs_options, &condition.mount_options}) {
    for (const std::string& text : *texts) {
      const std::optional<FileSystemKind> kind = file_system_of_options(text);
      if (!kind || holds(places.kinds, *kind)) continue;
      for (Result* result : results) {
        result->warn({"options-unused",
                      fmt::format("the options '{}' had no effect: no volume had this file system",
                                  printable(text)),
                      "remove them, or add the file system"});
      }
    }
  }
}

void check_conditions(const RunRequest& request, const PlacesOfRun& places,
                      std::span<Result* const> results) {
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    if (needs_no_volume(*job)) continue;
    for (const DriveCondition& condition : conditions_of(*job)) {
      check_condition(*job, condition, places);
      warn_of_unused_options(condition, places, results);
    }
  }
}

// The needs of all jobs with volumes. Throws Error for what they cannot do on such volumes.
SideNeeds needs_of_jobs(const RunRequest& request, const Kinds& kinds,
                        const std::vector<const Target*>& targets) {
  SideNeeds side;
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    if (needs_no_volume(*job)) continue;
    const PlannedVolumes planned = planned_for(*job, request, kinds, targets);
    named(*job, request.plan, [&] {
      job->check(planned);
      side.jobs.push_back({job->needs(planned), std::string(job->room_advice()),
                           planned.client.trees(), conditions_of(*job)});
    });
  }
  return side;
}

// By side. All sides with volumes to be formatted have the same needs.
std::vector<SideNeeds> needs_of_sides(const RunRequest& request, const Kinds& kinds,
                                      const ChosenTargets& targets) {
  std::vector<SideNeeds> needs = {
      needs_of_jobs(request, kinds, targets_of(targets.first, targets.first))};
  for (const SideTargets& side : targets.against) {
    const std::vector<const Target*> own = targets_of(side, targets.first);
    const bool directories = std::ranges::any_of(
        own, [](const Target* target) { return target->kind == TargetKind::directory; });
    needs.push_back(directories ? needs_of_jobs(request, kinds, own) : needs.front());
  }
  return needs;
}

// By job, of one repetition. `needs`: of the jobs with volumes.
std::vector<JobTime> times_of_jobs(const RunRequest& request, const SideNeeds& needs) {
  std::vector<JobTime> times;
  std::size_t with_volumes = 0;
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    const JobNeeds of_job = needs_no_volume(*job) ? job->needs({.count = job->volume_count().least})
                                                  : needs.jobs.at(with_volumes++).needs;
    const double fill_s = needs_no_volume(*job) ? 0 : of_job.fill_s;
    times.push_back({{of_job.seconds - of_job.waits_s, of_job.waits_s}, fill_s});
  }
  return times;
}

// `target`: as named, with all its parts.
void add_label(const Volume& volume, const std::string& target, Result& result) {
  if (!result.label.empty()) return;
  VolumeDescription description = volume.describe();
  description.target = target;
  result.label = described(description, result).target;
}

void notice_own_volumes(const SideTargets& targets, RunObserver& observer) {
  std::vector<std::string> names = {targets.near.front().text()};
  for (const Target& target : targets.far) names.push_back(target.text());
  const bool one = names.size() == 1;
  std::string text = fmt::format("{}: {}, removed at the end", one ? "volume" : "volumes",
                                 fmt::join(names, " and "));
  if (targets.near.front().kind == TargetKind::directory) {
    text += fmt::format("; {}, because mounting is not permitted here (see filereel doctor)",
                        one ? "a directory" : "directories");
  }
  observer.notice(text);
}

// How a new directory in `folder` looks like a mount point: "in an empty directory", "next to mount
// points". "" if it does not. Programs mount in /tmp, and with hidden names.
std::string sign_of_mounts(const std::string& folder) {
  if (names_at(folder).empty()) return "in an empty directory";
  struct stat info{};
  if (stat(folder.c_str(), &info) != 0 || (info.st_mode & S_ISVTX) != 0) return "";
  const auto is_there = [&](const MountedFileSystem& mounted) {
    const std::size_t slash = mounted.mount_point.rfind('/');
    return mounted.mount_point.substr(0, slash) == folder &&
           !mounted.mount_point.substr(slash + 1).starts_with('.') &&
           kind_of_name(mounted.mount_point) == S_IFDIR;
  };
  return std::ranges::any_of(mounted_file_systems(), is_there) ? "next to mount points" : "";
}

// What should be mounted at or above a missing directory may not be.
void notice_missing(const Target& target, RunObserver& observer, Result& result) {
  if (target.kind != TargetKind::directory || path_exists(target.path)) return;
  const std::string there = existing_path(target.path);
  const std::optional<MountedFileSystem> mounted = mounted_at(there);
  if (!mounted) return;
  const bool is_here = there + "/x" == absolute_path("x");  // in the working directory
  const bool is_of_root = mounted->mount_point == "/" && !is_here && there != "/";
  if (const std::string sign = is_of_root ? sign_of_mounts(there) : ""; !sign.empty()) {
    result.warn({"mount-missing",
                 fmt::format("{} was created {} on the {} of /: what should be mounted there may "
                             "not be",
                             target.text(), sign, mounted->type),
                 "mount it and measure again, unless this disk is meant"});
  }
  observer.notice(fmt::format("{} does not exist: it is created on the {} that is mounted at {}",
                              target.text(), mounted->type, mounted->mount_point));
}

// The number of volumes of each side: those named, or the usual number of the jobs.
std::size_t count_volumes(const RunRequest& request) {
  VolumeCount wanted;
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    if (needs_no_volume(*job)) continue;
    const VolumeCount count = job->volume_count();
    wanted = {std::max(wanted.least, count.least), std::max(wanted.most, count.most)};
  }
  const NamedTargets& targets = request.targets;
  const std::size_t named = 1 + targets.far.size();
  if (named > wanted.most) {
    throw Error(
        ErrorKind::usage,
        wanted.most == 1
            ? fmt::format("--far does not apply to {}: it uses a single volume", request.plan.name)
            : fmt::format("{} uses {}: name {} with --far, not {}", request.plan.name,
                          counted(wanted.most, "volume"), wanted.most - 1, named - 1));
  }
  if (!targets.near) return wanted.usual();
  if (named < wanted.least) {
    throw Error(ErrorKind::usage,
                fmt::format("{} needs {}: name {} more with --far{}", request.plan.name,
                            counted(wanted.least, "volume"), wanted.least - named,
                            wanted.least - named > 1 ? ", one per option" : ""));
  }
  return named;
}

// Opens volumes and checks their space.
class VolumeOpener {
 public:
  VolumeOpener(const RunRequest& request, Stage& stage) : request_(request), stage_(stage) {}

  // The volumes of all parts, with the same far volumes: those of `shared` if the side names none.
  // `needs` outlives this object.
  std::vector<Volumes> open(const SideTargets& side, const std::vector<Volume*>& shared,
                            const SideNeeds& needs) {
    const std::vector<DrivePart>& parts = request_.plan.parts;
    std::vector<Volumes> all;
    for (std::size_t i = 0; i < side.near.size(); ++i) {
      const std::string part = parts.empty() ? "" : parts[i].name;
      all.push_back({open(side.near[i], Role::near, part, needs), {}});
    }
    std::vector<Volume*> far;
    for (std::size_t i = 0; i < side.far.size(); ++i) {
      far.push_back(open(side.far[i], static_cast<Role>(i + 1), "", needs));
    }
    for (Volumes& volumes : all) volumes.far = far.empty() ? shared : far;
    return all;
  }

  // Call when all are open.
  void check() const { check_space(opened_, request_.power); }

 private:
  Volume* open(const Target& target, Role role, const std::string& part, const SideNeeds& needs) {
    stage_.volumes.push_back(open_volume(target, {.role = role,
                                                  .power = request_.power,
                                                  .destroy = request_.destroy,
                                                  .keep = request_.keep,
                                                  .part = part,
                                                  .held = &held_,
                                                  .client = place()}));
    Volume* const volume = stage_.volumes.back().get();
    opened_.push_back({volume, target.kind,
                       request_.targets.near ? target.text() : std::string(role_name(role)), role,
                       &needs});
    return volume;
  }

  // Nothing without other clients.
  std::optional<ClientPlace> place() const {
    Clients* const clients = request_.clients;
    if (!clients || clients->count() == 1) return std::nullopt;
    return ClientPlace{clients->rank(), [clients](const std::string& text) {
                         return clients->value_of_first(text);
                       }};
  }

  const RunRequest& request_;
  Stage& stage_;
  HeldDevices held_;
  std::vector<UntouchedVolume> opened_;  // in the order of the stage's volumes
};

// Opens the volumes and creates the sides.
void open_sides(const RunRequest& request, const ChosenTargets& targets,
                const std::vector<SideNeeds>& needs, std::span<Result* const> results,
                Stage& stage) {
  VolumeOpener opener(request, stage);
  stage.sides.push_back({opener.open(targets.first, {}, needs.front()), results[0], ""});
  const std::vector<Volume*> far = stage.sides.front().by_part.front().far;
  for (std::size_t i = 0; i < targets.against.size(); ++i) {
    const std::vector<Target>& against = request.targets.against;
    const Target& named = i < against.size() ? against[i] : *request.targets.control;
    stage.sides.push_back(
        {opener.open(targets.against[i], far, needs[i + 1]), results[i + 1], named.text()});
  }
  opener.check();
  if (targets.against.empty()) return;
  stage.sides.front().name = request.targets.near->text();
  for (const Side& side : stage.sides) {
    if (!request.targets.against.empty()) {
      add_label(*side.by_part.front().near, side.name, *side.result);
    }
  }
}

}  // namespace

void Stage::take() const {
  for (const bool images : {false, true}) {
    for (const std::unique_ptr<Volume>& volume : volumes) {
      if ((volume->host().taken > 0) == images) volume->take();
    }
  }
}

Stage open_stage(const RunRequest& request, RunObserver& observer,
                 std::span<Result* const> results) {
  const auto& jobs = request.plan.jobs;
  Stage stage;
  if (std::ranges::all_of(jobs, [](const auto& job) { return needs_no_volume(*job); })) {
    const NamedTargets& named = request.targets;
    if (!named.far.empty() || !named.against.empty() || named.control ||
        !request.file_systems.empty() || !request.plan.parts.empty()) {
      throw Error(ErrorKind::usage,
                  "--fs, --far, --against, --control and --parts do not apply to the null engine: "
                  "it uses no volume");
    }
    add_parts(request, {}, times_of_jobs(request, {}), stage);
    for (Result* result : results) {
      stage.sides.push_back({std::vector<Volumes>(1), result, ""});
    }
    return stage;
  }
  const std::size_t count = count_volumes(request);
  ChosenTargets targets = choose_targets(request.targets, request.plan.parts, request.power, count);
  if (!request.targets.near) notice_own_volumes(targets.first, observer);
  const std::vector<std::pair<Target*, Role>> all = targets.all();
  const bool formats = std::ranges::any_of(
      all, [](const auto& one) { return one.first->kind != TargetKind::directory; });
  if (!formats && !request.file_systems.empty()) {
    throw Error(ErrorKind::usage,
                "--fs does not apply to directories, which are not formatted: omit --fs, or name "
                "images or devices");
  }
  const Kinds kinds = formats ? choose_file_systems(request, results) : Kinds();
  const bool directories = std::ranges::any_of(
      all, [](const auto& one) { return one.first->kind == TargetKind::directory; });
  check_conditions(request, {directories, formats, kinds, request.power}, results);
  const std::vector<SideNeeds> needs = needs_of_sides(request, kinds, targets);
  add_parts(request, kinds, times_of_jobs(request, needs.front()), stage);
  for (const auto& [target, role] : all) {
    if (target->kind != TargetKind::image || target->size > 0) continue;
    for (const SideNeeds& side : needs) target->size = std::max(target->size, side.image(role));
  }
  open_sides(request, targets, needs, results, stage);
  for (const auto& [target, role] : all) {
    if (request.targets.near) notice_missing(*target, observer, *results.front());
  }
  return stage;
}

}  // namespace filereel
