#include "replay/run/stage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

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

// Adds the parts and what they need. `kinds`: those that are made; none on directories.
void add_parts(const RunRequest& request, bool formats, const Kinds& kinds, Stage& stage,
               Needs& needs) {
  std::vector<double> seconds;  // by job
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    Kinds own = formats ? wanted_by(*job, request) : Kinds();
    std::erase_if(own, [&](FileSystemKind kind) { return !holds(kinds, kind); });
    const JobNeeds one = job->needs(own);
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

void notice_own_volumes(const ChosenTargets& targets, RunObserver& observer) {
  std::string text =
      targets.far ? fmt::format("volumes: {} and {}", targets.near.text(), targets.far->text())
                  : "volume: " + targets.near.text();
  text += ", removed at the end";
  if (targets.near.kind == TargetKind::directory) {
    text += fmt::format("; {}, because nothing may be mounted here (filereel doctor)",
                        targets.far ? "directories" : "a directory");
  }
  observer.notice(text);
}

// Opens the volumes in the order of ChosenTargets::all, and makes the sides of them.
void open_sides(const RunRequest& request, const ChosenTargets& targets, const Needs& needs,
                std::span<Result* const> results, Stage& stage) {
  const auto open = [&](const Target& target, Role role) {
    const RoleNeeds& of_role = needs[static_cast<std::size_t>(role)];
    const std::string name = request.targets.near ? target.text() : std::string(role_name(role));
    if (target.size > 0) check_capacity(of_role, target.size, name);  // before an image is made
    stage.volumes.push_back(open_volume(
        target,
        {.role = role, .power = request.power, .destroy = request.destroy, .keep = request.keep}));
    return stage.volumes.back().get();
  };
  Volumes first, second;
  first.near = open(targets.near, Role::near);
  if (targets.far) first.far = open(*targets.far, Role::far);
  if (targets.against) second.near = open(*targets.against, Role::near);
  second.far = targets.against_far ? open(*targets.against_far, Role::far) : first.far;
  const auto check = [&](const Volume* volume, const Target& target, Role role) {
    const std::string name = request.targets.near ? target.text() : std::string(role_name(role));
    check_capacity(needs[static_cast<std::size_t>(role)], volume->capacity(), name);
  };
  check(first.near, targets.near, Role::near);
  if (targets.far) check(first.far, *targets.far, Role::far);
  if (targets.against) check(second.near, *targets.against, Role::near);
  if (targets.against_far) check(second.far, *targets.against_far, Role::far);
  const bool two = second.near != nullptr;
  stage.sides.push_back({first, results[0], two ? targets.near.text() : ""});
  if (two) stage.sides.push_back({second, results[1], targets.against->text()});
  if (!two) return;
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
    if (named.far || named.against || !request.file_systems.empty()) {
      throw Error(ErrorKind::usage,
                  "--fs, --far and --against have no meaning with the engine null: it works on no "
                  "volume");
    }
    add_parts(request, false, {}, stage, needs);
    for (Result* result : results) stage.sides.push_back({{}, result, ""});
    return stage;
  }
  const bool far = std::ranges::any_of(
      jobs, [](const auto& job) { return !needs_no_volume(*job) && job->uses_far(); });
  if (!far && (request.targets.far || request.targets.against_far)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--far has no meaning for {}: it works on one volume only", request.plan.name));
  }
  ChosenTargets targets = choose_targets(request.targets, request.power, far);
  if (!request.targets.near) notice_own_volumes(targets, observer);
  const std::vector<Target*> all = targets.all();
  const bool formats = std::ranges::any_of(
      all, [](const Target* one) { return one->kind != TargetKind::directory; });
  if (!formats && !request.file_systems.empty()) {
    throw Error(ErrorKind::usage,
                "--fs chooses what to format, and directories are used as they are: leave out "
                "--fs, or name images or devices");
  }
  const Kinds kinds = formats ? choose_file_systems(request, results) : Kinds();
  add_parts(request, formats, kinds, stage, needs);
  for (Target* target : all) {
    const auto role = static_cast<std::size_t>(targets.role(target));
    if (target->kind == TargetKind::image && target->size == 0) target->size = needs[role].image;
  }
  open_sides(request, targets, needs, results, stage);
  return stage;
}

}  // namespace filereel
