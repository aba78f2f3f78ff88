#include "replay/run/targets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "filesets/system/wording.h"
#include "replay/plan/drive_parts.h"
#include "replay/volumes/block_device.h"

namespace filereel {
namespace {

Target own_target(Role role, MountCapability power) {
  const std::string name = fmt::format("filereel-{}", role_name(role));
  Target target;
  target.kind = power == MountCapability::none ? TargetKind::directory : TargetKind::image;
  target.path = power == MountCapability::none ? name : name + ".img";
  target.temporary = true;
  return target;
}

// The same for block devices, which may be partitions or parts of the same drive.
void check_devices_apart(std::string_view name, const Target& target, std::string_view other_name,
                         const Target& other) {
  const DiskRange range = range_of(target), other_range = range_of(other);
  if (range.overlaps(other_range)) {
    throw Error(
        ErrorKind::usage,
        range.device == other_range.device && range.begin == other_range.begin &&
                range.end == other_range.end
            ? fmt::format("{} and {} are the same volume ({}): name two different ones", name,
                          other_name, target.text())
            : fmt::format("{} and {} overlap ({} and {}): name two volumes that do not overlap",
                          name, other_name, target.text(), other.text()));
  }
  const bool parts = target.is_part() || other.is_part();
  if (parts && range.disk == other_range.disk && range.device != other_range.device) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} and {} are on the same drive: name two partitions, or two parts of one "
                    "device",
                    target.text(), other.text()));
  }
}

// Throws Error(usage) unless these are two places.
void check_apart(std::string_view name, const Target& target, std::string_view other_name,
                 const Target& other) {
  if (target.kind == TargetKind::block_device && other.kind == TargetKind::block_device) {
    return check_devices_apart(name, target, other_name, other);
  }
  if (full_path(target.path) == full_path(other.path) || is_same_file(target.path, other.path)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} and {} are the same volume ({}): name two different ones", name,
                            other_name, target.path));
  }
  const std::string path = full_path(target.path) + "/";
  const std::string other_path = full_path(other.path) + "/";
  const bool directories =
      target.kind == TargetKind::directory && other.kind == TargetKind::directory;
  if (directories && (path.starts_with(other_path) || other_path.starts_with(path))) {
    throw Error(ErrorKind::usage,
                fmt::format("one of {} and {} contains the other: name two separate directories",
                            target.path, other.path));
  }
}

// Throws Error(usage) if a volume is named without the one it depends on.
void check_which_are_named(const NamedTargets& named) {
  const auto needs = [](bool given, bool needed, std::string_view option, std::string_view other) {
    if (!given || needed) return;
    throw Error(ErrorKind::usage, fmt::format("{} requires {}", option, other));
  };
  const bool near = named.near.has_value();
  needs(!named.far.empty(), near, "--far", "--near");
  needs(!named.against.empty(), near, "--against", "--near");
  needs(named.control.has_value(), near, "--control", "--near");
  needs(!named.against_far.empty(), !named.against.empty(), "--against-far", "--against");
  needs(!named.against_far.empty(), !named.far.empty(), "--against-far", "--far");
  const std::size_t sides = named.against.size();
  if (!named.against_far.empty() && named.against_far.size() != named.far.size() * sides) {
    throw Error(ErrorKind::usage,
                fmt::format("--far names {} but --against-far names {}: name the same "
                            "number{}, or omit --against-far to share those of --far",
                            counted(named.far.size(), "volume"), named.against_far.size(),
                            sides > 1 ? " for each --against" : ""));
  }
}

// Compared volumes must be of the same kind: two directories, or two formatted volumes.
void check_comparable(const Target& target, const Target& other) {
  if ((target.kind == TargetKind::directory) == (other.kind == TargetKind::directory)) return;
  throw Error(ErrorKind::usage,
              "cannot measure a directory in turns with an image or a device, which are formatted "
              "before each repetition: measure each alone with --json, then use \"filereel "
              "compare a.json b.json\"");
}

void check_comparable(const NamedTargets& named) {
  for (const Target& other : named.against) check_comparable(*named.near, other);
  if (named.control) check_comparable(*named.near, *named.control);
  for (std::size_t i = 0; i < named.against_far.size(); ++i) {
    check_comparable(named.far[i % named.far.size()], named.against_far[i]);
  }
}

// With the names of their options.
using NamedList = std::vector<std::pair<std::string, const Target*>>;

// `near`: the name of the near target.
void add_side(const std::string& near, const std::string& prefix, const SideTargets& side,
              std::span<const DrivePart> parts, NamedList& list) {
  for (std::size_t i = 0; i < side.near.size(); ++i) {
    list.emplace_back(parts.empty() ? near : fmt::format("{} ({})", near, parts[i].name),
                      &side.near[i]);
  }
  for (std::size_t i = 0; i < side.far.size(); ++i) {
    list.emplace_back(fmt::format("{}{}{}", prefix, prefix.empty() ? "" : "-",
                                  role_name(static_cast<Role>(i + 1))),
                      &side.far[i]);
  }
}

void check_all_apart(const ChosenTargets& targets, std::span<const DrivePart> parts, bool listed,
                     bool controlled) {
  NamedList all;
  const auto name = [&](std::size_t number, const std::string& usual) {
    return listed ? fmt::format("volume {}", number) : usual;
  };
  add_side(name(1, "near"), "", targets.first, parts, all);
  const std::size_t compared = targets.against.size() - (controlled ? 1 : 0);
  for (std::size_t i = 0; i < targets.against.size(); ++i) {
    const std::string role = i == compared  ? "control"
                             : compared > 1 ? fmt::format("against {}", i + 1)
                                            : "against";
    add_side(name(i + 2, role), role, targets.against[i], parts, all);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      check_apart(all[i].first, *all[i].second, all[j].first, *all[j].second);
    }
  }
}

}  // namespace

std::vector<std::pair<Target*, Role>> ChosenTargets::all() {
  std::vector<std::pair<Target*, Role>> list;
  const auto add = [&](SideTargets& side) {
    for (Target& target : side.near) list.emplace_back(&target, Role::near);
    for (std::size_t i = 0; i < side.far.size(); ++i) {
      list.emplace_back(&side.far[i], static_cast<Role>(i + 1));
    }
  };
  add(first);
  std::ranges::for_each(against, add);
  return list;
}

ChosenTargets choose_targets(const NamedTargets& named, std::span<const DrivePart> parts,
                             MountCapability power, std::size_t count) {
  check_which_are_named(named);
  ChosenTargets targets;
  if (!named.near) {
    if (!parts.empty()) throw Error(ErrorKind::usage, "--parts requires --near");
    targets.first.near = {own_target(Role::near, power)};
    for (std::size_t i = 1; i < count; ++i) {
      targets.first.far.push_back(own_target(static_cast<Role>(i), power));
    }
    return targets;
  }
  check_comparable(named);
  const auto near = [&](const Target& target, std::string_view option) {
    return parts.empty() ? std::vector<Target>{target} : place_parts(target, parts, option);
  };
  targets.first = {near(*named.near, "--near"), named.far};
  std::span<const Target> far = named.against_far;
  for (const Target& one : named.against) {
    const std::span<const Target> own = far.first(far.empty() ? 0 : named.far.size());
    targets.against.push_back({near(one, "--against"), {own.begin(), own.end()}});
    far = far.subspan(own.size());
  }
  if (named.control) targets.against.push_back({near(*named.control, "--control"), {}});
  check_all_apart(targets, parts, named.listed, named.control.has_value());
  return targets;
}

std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountCapability power, bool required,
                                                Result& result) {
  if (wanted.empty()) {
    throw Error(ErrorKind::usage,
                "the plan names no file systems to format: add file_systems to it, or use --fs");
  }
  std::vector<FileSystemKind> usable;
  for (const FileSystemKind kind : wanted) {
    const FileSystemInfo& info = file_system_info(kind);
    std::string missing;
    if (!find_program(info.make_program)) {
      missing = fmt::format("{} is not installed; {}", info.make_program,
                            install_advice(info.make_program));
    } else if (const std::string denied = denial(CallUse::mounts);
               !denied.empty() && power != MountCapability::full) {
      missing = denied;
    } else if (!choose_driver(kind, power)) {
      missing = info.fuse_program.empty()
                    ? fmt::format("the kernel has no driver for it, or mounting is not permitted")
                : fuse_has(info)
                    ? fmt::format("{} needs root: run filereel with sudo", info.fuse_program)
                    : fmt::format("neither the kernel driver nor {} is available; {}",
                                  info.fuse_program, install_advice(info.fuse_program));
    }
    if (missing.empty()) {
      usable.push_back(kind);
      continue;
    }
    const std::string text = fmt::format("{} is unavailable: {}", info.name, missing);
    if (required) throw Error(ErrorKind::failed, text);
    result.warn({"file-system-unavailable", text, "run `filereel doctor` to see what is missing"});
  }
  if (usable.empty()) {
    throw Error(ErrorKind::failed,
                "none of the plan's file systems can be formatted and mounted here: run `filereel "
                "doctor` to see what is missing, or name directories with --near and --far");
  }
  return usable;
}

}  // namespace filereel
