#include "replay/runner/preparation.h"

#include <algorithm>

#include <boost/filesystem.hpp>
#include <fmt/format.h>

#include "filesets/error.h"
#include "filesets/units.h"

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

// What a file system takes for itself: journal, allocation tables, the room that it needs to work
// well. Measured on fresh ones and rounded up; xfs and btrfs have a floor of their own.
std::uint64_t own_space(FileSystemKind kind, std::uint64_t content) {
  constexpr std::uint64_t kMiB = 1 << 20;
  switch (kind) {
    case FileSystemKind::ext4:
      return 64 * kMiB + content / 10;  // journal, inodes, 5 % for root
    case FileSystemKind::ntfs:
      return 48 * kMiB + content / 20;
    case FileSystemKind::fat32:
      return 16 * kMiB + content / 50;
    case FileSystemKind::exfat:
      return 16 * kMiB + content / 50;
    case FileSystemKind::xfs:
      return 128 * kMiB + content / 20;
    case FileSystemKind::btrfs:
      return 384 * kMiB + content / 4;  // metadata stands twice
  }
  return 0;
}

// mkfs.fat makes clusters of 512 bytes on small volumes, which no drive of today has and which slow
// everything down: an image of our own choosing is large enough for 4 KiB.
std::uint64_t usual_least_size(const FileSystemInfo& info) {
  constexpr std::uint64_t kLeastFat32 = 272 << 20;
  return info.kind == FileSystemKind::fat32 ? std::max(info.least_size, kLeastFat32)
                                            : info.least_size;
}

}  // namespace

ChosenTargets choose_targets(const std::optional<Target>& near, const std::optional<Target>& far,
                             MountPower power) {
  if (!near && far) {
    throw Error(ErrorKind::usage, "--far needs --near as well");
  }
  if (!near) return {own_target(Role::near, power), own_target(Role::far, power)};
  if (far) {
    boost::system::error_code ignored;
    if (full_path(near->path) == full_path(far->path) ||
        boost::filesystem::equivalent(near->path, far->path, ignored)) {
      throw Error(ErrorKind::usage,
                  fmt::format("near and far are the same ({}): name two volumes", near->path));
    }
    const std::string near_path = full_path(near->path).string() + "/";
    const std::string far_path = full_path(far->path).string() + "/";
    const bool directories =
        near->kind == TargetKind::directory && far->kind == TargetKind::directory;
    if (directories && (near_path.starts_with(far_path) || far_path.starts_with(near_path))) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} and {} lie one inside the other: name two directories apart",
                              near->path, far->path));
    }
  }
  return {*near, far};
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

std::uint64_t image_size(const std::vector<FileSet>& sets, const std::vector<FileSystemKind>& kinds,
                         std::uint64_t copies) {
  constexpr std::uint64_t kOwnInodes = 1024;  // reserved ones, and those that rounding costs
  std::uint64_t size = 0;
  for (const FileSystemKind kind : kinds) {
    const FileSystemInfo& info = file_system_info(kind);
    std::uint64_t content = 0, inodes = 0;
    for (const FileSet& set : sets) {
      content = std::max(content, space_needed(set, info.limits, copies));
      inodes = std::max(inodes, entries_needed(set, copies) + kOwnInodes);
    }
    size = std::max({size, usual_least_size(info), content + own_space(kind, content),
                     inodes * info.limits.bytes_per_inode});
  }
  constexpr std::uint64_t kUnit = 4 << 20;
  return (size + kUnit - 1) / kUnit * kUnit;
}

std::uint64_t copies_on(Role role, const Plan& plan) {
  const auto has = [&](FcStep step) {
    return std::ranges::find(plan.operations, step) != plan.operations.end();
  };
  if (role == Role::near) return has(FcStep::copy_near) ? 2 : 1;
  return has(FcStep::copy_far) ? 1 : 0;
}

void check_room(const FileSet& set, const FileSystemLimits& limits, std::uint64_t copies,
                std::uint64_t bytes, const std::string& volume) {
  const std::uint64_t needed = space_needed(set, limits, copies);
  if (needed <= bytes) return;
  throw Error(ErrorKind::failed,
              fmt::format("{} has no room for the set '{}': it takes {} there and {} are free; use "
                          "--scale, fewer --operations or a larger volume",
                          volume, set.name, format_size(needed), format_size(bytes)));
}

void check_entries(const FileSet& set, std::uint64_t copies, std::uint64_t entries,
                   const std::string& volume) {
  const std::uint64_t needed = entries_needed(set, copies);
  if (needed <= entries) return;
  throw Error(
      ErrorKind::failed,
      fmt::format("{} has no room for the set '{}': it is {} files and directories there and {} "
                  "can be made (inodes); use --scale, fewer --operations or a larger volume",
                  volume, set.name, needed, entries));
}

void warn_of_fitting(const FittedSet& fitted, const std::string& file_system, Result& result) {
  const std::string& set = fitted.set.name;
  if (!fitted.escaped.empty()) {
    std::string list;
    constexpr std::size_t kNamed = 5;
    for (std::size_t i = 0; i < std::min(kNamed, fitted.escaped.size()); ++i) {
      list += fmt::format("{}{} -> {}", i > 0 ? ", " : "", fitted.escaped[i].original,
                          fitted.escaped[i].escaped);
    }
    result.warn({"names-escaped",
                 fmt::format("{} names of '{}' are escaped on {}: {}{}", fitted.escaped.size(), set,
                             file_system, list, fitted.escaped.size() > kNamed ? ", …" : ""),
                 "% and two hexadecimal digits stand for a byte, %~1 marks a case collision; "
                 "the result file lists all"});
  }
  const auto downgrade = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    result.warn({"downgraded",
                 fmt::format("{} has none: {} {} of '{}'", file_system, count, what, set),
                 "compare with other file systems only where these do not matter"});
  };
  downgrade(fitted.symlinks_left_out, "symbolic links are left out");
  downgrade(fitted.hard_links_left_out, "hard links are left out");
  downgrade(fitted.holes_filled, "files with holes are written out in full");
}

}  // namespace filereel
