#include "replay/run/preparation.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/run/host.h"

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
  const bool near = named.near.has_value(), far = named.far.has_value();
  needs(far, near, "--far", "--near");
  needs(named.against.has_value(), near, "--against", "--near");
  needs(named.against_far.has_value(), named.against.has_value(), "--against-far", "--against");
  needs(named.against_far.has_value(), far, "--against-far", "--far");
  const auto mixed = [](const std::optional<Target>& one, const std::optional<Target>& other) {
    return one && other &&
           (one->kind == TargetKind::directory) != (other->kind == TargetKind::directory);
  };
  if (mixed(named.near, named.against) || mixed(named.far, named.against_far)) {
    throw Error(ErrorKind::usage,
                "a directory on the one side and what is formatted on the other cannot be "
                "compared: name two directories, or two images or devices");
  }
}

}  // namespace

void begin_result(Result& result) {
  result.version = FILEREEL_VERSION;
  result.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time(nullptr)));
  result.host = describe_host();
}

std::vector<Target*> ChosenTargets::all() {
  std::vector<Target*> list = {&near};
  for (std::optional<Target>* other : {&far, &against, &against_far}) {
    if (*other) list.push_back(&**other);
  }
  return list;
}

ChosenTargets choose_targets(const NamedTargets& named, MountPower power) {
  check_which_are_named(named);
  if (!named.near) return {own_target(Role::near, power), own_target(Role::far, power), {}, {}};
  const std::pair<std::string_view, const std::optional<Target>&> targets[] = {
      {"near", named.near},
      {"far", named.far},
      {"against", named.against},
      {"against-far", named.against_far}};
  for (std::size_t i = 0; i < std::size(targets); ++i) {
    for (std::size_t j = i + 1; j < std::size(targets); ++j) {
      if (!targets[i].second || !targets[j].second) continue;
      check_apart(targets[i].first, *targets[i].second, targets[j].first, *targets[j].second);
    }
  }
  return {*named.near, named.far, named.against, named.against_far};
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

std::uint64_t image_size(std::span<const FileSet> sets, const std::vector<FileSystemKind>& kinds,
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
                std::uint64_t bytes, const std::string& volume, std::string_view advice) {
  const std::uint64_t needed = space_needed(set, limits, copies);
  if (needed <= bytes) return;
  throw Error(ErrorKind::failed,
              fmt::format("{} has no room for the set '{}': it takes {} there and {} are free; {}",
                          volume, set.name, format_size(needed), format_size(bytes), advice));
}

void check_room(const FileSet& set, const Volume& volume, std::uint64_t copies,
                std::string_view advice) {
  const std::string name = volume.describe().target;
  if (const std::optional<std::uint64_t> free = volume.free_bytes()) {
    check_room(set, volume.limits(), copies, *free, name, advice);
  }
  const std::optional<std::uint64_t> entries = volume.free_entries();
  const std::uint64_t needed = entries_needed(set, copies);
  if (!entries || needed <= *entries) return;
  throw Error(
      ErrorKind::failed,
      fmt::format("{} has no room for the set '{}': it is {} files and directories there and {} "
                  "can be made (inodes); {}",
                  name, set.name, needed, *entries, advice));
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
