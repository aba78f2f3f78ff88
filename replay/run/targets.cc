#include "replay/run/targets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/process.h"

namespace filereel {
namespace {

Target own_target(Role role, MountPower power) {
  const std::string name = fmt::format("filereel-{}", role_name(role));
  Target target;
  target.kind = power == MountPower::none ? TargetKind::directory : TargetKind::image;
  target.path = power == MountPower::none ? name : name + ".img";
  target.temporary = true;
  return target;
}

// The same for all names of a place, also of one that is still to be made.
boost::filesystem::path full_path(const std::string& path) {
  boost::system::error_code error;
  const boost::filesystem::path absolute = boost::filesystem::absolute(path, error);
  const boost::filesystem::path full = boost::filesystem::weakly_canonical(absolute, error);
  return error ? absolute : full;
}

// Throws Error(usage) unless these are two places.
void check_apart(std::string_view name, const Target& one, std::string_view other_name,
                 const Target& other) {
  boost::system::error_code ignored;
  if (full_path(one.path) == full_path(other.path) ||
      boost::filesystem::equivalent(one.path, other.path, ignored)) {
    throw Error(ErrorKind::usage, fmt::format("{} and {} are the same ({}): name two volumes", name,
                                              other_name, one.path));
  }
  const std::string path = full_path(one.path).string() + "/";
  const std::string other_path = full_path(other.path).string() + "/";
  const bool directories = one.kind == TargetKind::directory && other.kind == TargetKind::directory;
  if (directories && (path.starts_with(other_path) || other_path.starts_with(path))) {
    throw Error(ErrorKind::usage,
                fmt::format("{} and {} lie one inside the other: name two directories apart",
                            one.path, other.path));
  }
}

// Throws Error(usage) where a volume makes sense only beside another one.
void check_which_are_named(const NamedTargets& named) {
  const auto needs = [](bool given, bool needed, std::string_view option, std::string_view other) {
    if (!given || needed) return;
    throw Error(ErrorKind::usage, fmt::format("{} needs {} as well", option, other));
  };
  const bool near = named.near.has_value();
  needs(!named.far.empty(), near, "--far", "--near");
  needs(named.against.has_value(), near, "--against", "--near");
  needs(!named.against_far.empty(), named.against.has_value(), "--against-far", "--against");
  needs(!named.against_far.empty(), !named.far.empty(), "--against-far", "--far");
  if (!named.against_far.empty() && named.against_far.size() != named.far.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("--far names {} volumes and --against-far {}: name as many, or leave "
                            "out --against-far to share those of --far",
                            named.far.size(), named.against_far.size()));
  }
}

// Of volumes that are compared: what lies on them must be the same.
void check_comparable(const ChosenTargets& targets) {
  for (std::size_t i = 0; i < targets.against.size(); ++i) {
    const bool directory = targets.volumes[i].kind == TargetKind::directory;
    if (directory == (targets.against[i].kind == TargetKind::directory)) continue;
    throw Error(ErrorKind::usage,
                "a directory on the one side and what is formatted on the other cannot be "
                "compared: name two directories, or two images or devices");
  }
}

void check_all_apart(const ChosenTargets& targets) {
  std::vector<std::pair<std::string, const Target*>> all;
  for (std::size_t i = 0; i < targets.volumes.size(); ++i) {
    all.emplace_back(role_name(static_cast<Role>(i)), &targets.volumes[i]);
  }
  for (std::size_t i = 0; i < targets.against.size(); ++i) {
    all.emplace_back(
        i == 0 ? "against" : fmt::format("against-{}", role_name(static_cast<Role>(i))),
        &targets.against[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      check_apart(all[i].first, *all[i].second, all[j].first, *all[j].second);
    }
  }
}

}  // namespace

bool ChosenTargets::all_directories() const {
  const auto is_one = [](const Target& one) { return one.kind == TargetKind::directory; };
  return std::ranges::all_of(volumes, is_one) && std::ranges::all_of(against, is_one);
}

ChosenTargets choose_targets(const NamedTargets& named, MountPower power, std::size_t count) {
  check_which_are_named(named);
  ChosenTargets targets;
  if (!named.near) {
    for (std::size_t i = 0; i < count; ++i) {
      targets.volumes.push_back(own_target(static_cast<Role>(i), power));
    }
    return targets;
  }
  targets.volumes = named.far;
  targets.volumes.insert(targets.volumes.begin(), *named.near);
  if (named.against) {
    targets.against = named.against_far;
    targets.against.insert(targets.against.begin(), *named.against);
  }
  check_comparable(targets);
  check_all_apart(targets);
  return targets;
}

std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountPower power, bool required, Result& result) {
  if (wanted.empty()) {
    throw Error(ErrorKind::usage,
                "the plan names no file systems to make: add file_systems to it, or say --fs");
  }
  std::vector<FileSystemKind> usable;
  for (const FileSystemKind kind : wanted) {
    const FileSystemInfo& info = file_system_info(kind);
    std::string missing;
    if (!find_program(info.make_program)) {
      missing = fmt::format("{} is not installed (apt-get install {})", info.make_program,
                            info.make_package);
    } else if (!choose_driver(kind, power)) {
      missing = info.fuse_program.empty()
                    ? fmt::format("the kernel has no driver for it or may not be used for it")
                : fuse_has(info)
                    ? fmt::format("{} needs root: run filereel with sudo", info.fuse_program)
                    : fmt::format(
                          "neither the kernel's driver nor {} can be used (apt-get install "
                          "{})",
                          info.fuse_program, info.fuse_package);
    }
    if (missing.empty()) {
      usable.push_back(kind);
      continue;
    }
    const std::string text = fmt::format("{} cannot be used here: {}", info.name, missing);
    if (required) throw Error(ErrorKind::failed, text);
    result.warn({"file-system-unavailable", text, "run `filereel doctor` to see what is missing"});
  }
  if (usable.empty()) {
    throw Error(ErrorKind::failed,
                "none of the plan's file systems can be made and mounted here: `filereel doctor` "
                "says what is missing; or name directories with --near and --far");
  }
  return usable;
}

}  // namespace filereel
