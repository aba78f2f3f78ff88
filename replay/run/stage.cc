#include "replay/run/stage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/room.h"

namespace filereel {
namespace {

using Kinds = std::vector<FileSystemKind>;

// What the jobs need of the volumes of a role.
struct RoleNeeds {
  std::uint64_t image = 0;
  std::vector<std::pair<VolumeNeeds, std::string>> all;  // with what helps where there is no room
};
using Needs = std::array<RoleNeeds, kRoles>;

bool holds(const Kinds& kinds, FileSystemKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

Kinds wanted_by(const Job& job, const RunRequest& request) {
  return request.file_systems.empty() ? file_systems_of(job) : request.file_systems;
}

// The file systems that can be made, of all jobs.
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

// Adds the parts and what they need of so many volumes. `kinds`: those that are made; none on
// directories.
void add_parts(const RunRequest& request, std::size_t volumes, bool formats, const Kinds& kinds,
               Stage& stage, Needs& needs) {
  std::vector<double> seconds;  // by job
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    Kinds own = formats ? wanted_by(*job, request) : Kinds();
    std::erase_if(own, [&](FileSystemKind kind) { return !holds(kinds, kind); });
    const JobNeeds one = job->needs(own, std::min(volumes, job->volume_count().most));
    seconds.push_back(one.seconds);
    if (needs_no_volume(*job)) continue;
    for (std::size_t role = 0; role < kRoles; ++role) {
      needs[role].image = std::max(needs[role].image, one.volumes[role].image);
      needs[role].all.emplace_back(one.volumes[role], std::string(job->room_advice()));
    }
  }
  const auto add = [&](std::optional<FileSystemKind> kind, const auto& wanted) {
    for (std::size_t i = 0; i < request.plan.jobs.size(); ++i) {
      const Job& job = *request.plan.jobs[i];
      if (wanted(job)) stage.parts.push_back({&job, kind, seconds[i]});
    }
  };
  for (const FileSystemKind kind : kinds) {
    add(kind, [&](const Job& job) {
      return !needs_no_volume(job) && holds(wanted_by(job, request), kind);
    });
  }
  add({}, [&](const Job& job) { return needs_no_volume(job) || !formats; });
}

void check_capacity(const RoleNeeds& needs, std::uint64_t bytes, const std::string& volume) {
  for (const auto& [one, advice] : needs.all) {
    check_room(one.least, bytes, volume, one.what, advice);
  }
}

void add_label(const Volume& volume, Result& result) {
  if (!result.label.empty()) return;
  result.label = described(volume.describe(), result).target;
}

void notice_own_volumes(const std::vector<Target>& targets, RunObserver& observer) {
  std::vector<std::string> names;
  for (const Target& target : targets) names.push_back(target.text());
  const bool one = targets.size() == 1;
  std::string text = fmt::format("{}: {}, removed at the end", one ? "volume" : "volumes",
                                 fmt::join(names, " and "));
  if (targets.front().kind == TargetKind::directory) {
    text += fmt::format("; {}, because nothing may be mounted here (filereel doctor)",
                        one ? "a directory" : "directories");
  }
  observer.notice(text);
}

// How many volumes each side has: those that are named, or as many as the jobs work on.
std::size_t count_volumes(const RunRequest& request) {
  VolumeCount wanted;
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    if (needs_no_volume(*job)) continue;
    const VolumeCount one = job->volume_count();
    wanted = {std::max(wanted.least, one.least), std::max(wanted.most, one.most)};
  }
  const NamedTargets& targets = request.targets;
  const std::size_t named = 1 + std::max(targets.far.size(), targets.against_far.size());
  if (named > wanted.most) {
    throw Error(ErrorKind::usage,
                wanted.most == 1
                    ? fmt::format("--far has no meaning for {}: it works on one volume only",
                                  request.plan.name)
                    : fmt::format("{} works on {} volumes: name {} with --far, not {}",
                                  request.plan.name, wanted.most, wanted.most - 1, named - 1));
  }
  if (!targets.near) return wanted.usual();
  if (named < wanted.least) {
    throw Error(ErrorKind::usage, fmt::format("{} works on {} volumes: name {} more with --far{}",
                                              request.plan.name, wanted.least, wanted.least - named,
                                              wanted.least - named > 1 ? ", once for each" : ""));
  }
  return named;
}

// What all the jobs need of a volume, and how to name it to the user.
struct OpenedVolume {
  const Volume* volume;
  const RoleNeeds& needs;
  std::string name;
};

// Opens the volumes, near first, and makes the sides of them.
void open_sides(const RunRequest& request, const ChosenTargets& targets, const Needs& needs,
                std::span<Result* const> results, Stage& stage) {
  std::vector<OpenedVolume> opened;
  const auto open = [&](const std::vector<Target>& of_side) {
    Volumes volumes;
    for (std::size_t i = 0; i < of_side.size(); ++i) {
      const Target& target = of_side[i];
      const auto role = static_cast<Role>(i);
      const std::string name = request.targets.near ? target.text() : std::string(role_name(role));
      if (target.size > 0) check_capacity(needs[i], target.size, name);  // before an image is made
      const VolumeOptions options = {
          .role = role, .power = request.power, .destroy = request.destroy, .keep = request.keep};
      Volume* volume = stage.volumes.emplace_back(open_volume(target, options)).get();
      opened.push_back({volume, needs[i], name});
      i == 0 ? volumes.near = volume : volumes.far.emplace_back(volume);
    }
    return volumes;
  };
  const Volumes first = open(targets.volumes);
  Volumes second = open(targets.against);
  if (second.far.empty()) second.far = first.far;
  for (const OpenedVolume& one : opened)
    check_capacity(one.needs, one.volume->capacity(), one.name);
  if (!second.near) {
    stage.sides.push_back({first, results[0], ""});
    return;
  }
  stage.sides.push_back({first, results[0], targets.volumes.front().text()});
  stage.sides.push_back({second, results[1], targets.against.front().text()});
  for (const Side& side : stage.sides) add_label(*side.volumes.near, *side.result);
}

}  // namespace

Stage open_stage(const RunRequest& request, RunObserver& observer,
                 std::span<Result* const> results) {
  const auto& jobs = request.plan.jobs;
  Stage stage;
  Needs needs;
  if (std::ranges::all_of(jobs, [](const auto& job) { return needs_no_volume(*job); })) {
    const NamedTargets& named = request.targets;
    if (!named.far.empty() || named.against || !request.file_systems.empty()) {
      throw Error(ErrorKind::usage,
                  "--fs, --far and --against have no meaning with the engine null: it works on no "
                  "volume");
    }
    add_parts(request, 1, false, {}, stage, needs);
    for (Result* result : results) stage.sides.push_back({{}, result, ""});
    return stage;
  }
  const std::size_t count = count_volumes(request);
  ChosenTargets targets = choose_targets(request.targets, request.power, count);
  if (!request.targets.near) notice_own_volumes(targets.volumes, observer);
  const bool formats = !targets.all_directories();
  if (!formats && !request.file_systems.empty()) {
    throw Error(ErrorKind::usage,
                "--fs chooses what to format, and directories are used as they are: leave out "
                "--fs, or name images or devices");
  }
  const Kinds kinds = formats ? choose_file_systems(request, results) : Kinds();
  add_parts(request, count, formats, kinds, stage, needs);
  for (std::vector<Target>* side : {&targets.volumes, &targets.against}) {
    for (std::size_t i = 0; i < side->size(); ++i) {
      Target& target = (*side)[i];
      if (target.kind == TargetKind::image && target.size == 0) target.size = needs[i].image;
    }
  }
  open_sides(request, targets, needs, results, stage);
  return stage;
}

}  // namespace filereel
