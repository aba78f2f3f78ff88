#include "replay/run/stage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/project_quota.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/room.h"

namespace filereel {
namespace {

using Kinds = std::vector<FileSystemKind>;

// The needs of the jobs on the volumes of a role.
struct RoleNeeds {
  std::uint64_t image = 0;
  std::vector<std::pair<VolumeNeeds, std::string>> all;  // with the advice if space is lacking
};
using Needs = std::array<RoleNeeds, kRoles>;

bool holds(const Kinds& kinds, FileSystemKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
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

// Adds the jobs and their needs on this number of volumes. `kinds`: file systems to be formatted;
// empty for directories.
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

// `directory`: that of the volume if it is one.
void check_capacity(const RoleNeeds& needs, std::optional<int> directory, std::uint64_t bytes,
                    const std::string& volume) {
  for (const auto& [one, advice] : needs.all) {
    check_capacity(one, bytes, volume, directory ? with_quota_advice(*directory, advice) : advice);
    if (!directory) check_formatted_capacity(one, bytes, volume, advice);
  }
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

// The number of volumes of each side: those named, or the usual number of the jobs.
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

// Opens volumes and checks their capacity.
class VolumeOpener {
 public:
  VolumeOpener(const RunRequest& request, const Needs& needs, Stage& stage)
      : request_(request), needs_(needs), stage_(stage) {}

  // The volumes of all parts, with the same far volumes: those of `shared` if the side names none.
  std::vector<Volumes> open(const SideTargets& side, const std::vector<Volume*>& shared) {
    const std::vector<DrivePart>& parts = request_.plan.parts;
    std::vector<Volumes> all;
    for (std::size_t i = 0; i < side.near.size(); ++i) {
      all.push_back({open(side.near[i], Role::near, parts.empty() ? "" : parts[i].name), {}});
    }
    std::vector<Volume*> far;
    for (std::size_t i = 0; i < side.far.size(); ++i) {
      far.push_back(open(side.far[i], static_cast<Role>(i + 1), ""));
    }
    for (Volumes& one : all) one.far = far.empty() ? shared : far;
    return all;
  }

  // Checks all volumes; call when all are open.
  void check_capacities() const {
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      const auto& [target, role] = opened_[i];
      const Volume& volume = *stage_.volumes[i];
      const bool is_directory = target->kind == TargetKind::directory;
      check(*target, role, volume.capacity(),
            is_directory ? std::optional(volume.root()) : std::nullopt);
    }
  }

 private:
  Volume* open(const Target& target, Role role, const std::string& part) {
    if (target.size > 0) check(target, role, target.size, {});  // before an image is created
    stage_.volumes.push_back(open_volume(target, {.role = role,
                                                  .power = request_.power,
                                                  .destroy = request_.destroy,
                                                  .keep = request_.keep,
                                                  .part = part,
                                                  .held = &held_,
                                                  .client = place()}));
    opened_.emplace_back(&target, role);
    return stage_.volumes.back().get();
  }

  // Nothing without other clients.
  std::optional<ClientPlace> place() const {
    Clients* const clients = request_.clients;
    if (!clients || clients->count() == 1) return std::nullopt;
    return ClientPlace{clients->rank(), [clients](const std::string& text) {
                         return clients->value_of_first(text);
                       }};
  }

  void check(const Target& target, Role role, std::uint64_t bytes,
             std::optional<int> directory) const {
    check_capacity(needs_[static_cast<std::size_t>(role)], directory, bytes,
                   request_.targets.near ? target.text() : std::string(role_name(role)));
  }

  const RunRequest& request_;
  const Needs& needs_;
  Stage& stage_;
  HeldDevices held_;
  std::vector<std::pair<const Target*, Role>> opened_;  // in the order of the stage's volumes
};

// Opens the volumes and creates the sides.
void open_sides(const RunRequest& request, const ChosenTargets& targets, const Needs& needs,
                std::span<Result* const> results, Stage& stage) {
  VolumeOpener opener(request, needs, stage);
  stage.sides.push_back({opener.open(targets.first, {}), results[0], ""});
  const std::vector<Volume*> far = stage.sides.front().parts.front().far;
  for (std::size_t i = 0; i < targets.against.size(); ++i) {
    const std::vector<Target>& against = request.targets.against;
    const Target& named = i < against.size() ? against[i] : *request.targets.control;
    stage.sides.push_back({opener.open(targets.against[i], far), results[i + 1], named.text()});
  }
  opener.check_capacities();
  if (targets.against.empty()) return;
  stage.sides.front().name = request.targets.near->text();
  for (const VolumeUnderTest& side : stage.sides) {
    if (!request.targets.against.empty()) {
      add_label(*side.parts.front().near, side.name, *side.result);
    }
  }
}

}  // namespace

Stage open_stage(const RunRequest& request, RunObserver& observer,
                 std::span<Result* const> results) {
  const auto& jobs = request.plan.jobs;
  Stage stage;
  Needs needs;
  if (std::ranges::all_of(jobs, [](const auto& job) { return needs_no_volume(*job); })) {
    const NamedTargets& named = request.targets;
    if (!named.far.empty() || !named.against.empty() || named.control ||
        !request.file_systems.empty() || !request.plan.parts.empty()) {
      throw Error(ErrorKind::usage,
                  "--fs, --far, --against, --control and --parts do not apply to the null engine: "
                  "it uses no volume");
    }
    add_parts(request, 1, false, {}, stage, needs);
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
  add_parts(request, count, formats, kinds, stage, needs);
  for (const auto& [target, role] : all) {
    if (target->kind == TargetKind::image && target->size == 0) {
      target->size = needs[static_cast<std::size_t>(role)].image;
    }
  }
  open_sides(request, targets, needs, results, stage);
  return stage;
}

}  // namespace filereel
