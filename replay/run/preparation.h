// What is decided before a run touches anything: which volumes, how large, and whether the sets
// fit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "replay/results/result.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/name_rules.h"
#include "replay/volumes/target.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Notes in a result who measures it, when, and on which machine.
void begin_result(Result& result);

// As on the command line, before they are checked.
struct NamedTargets {
  std::optional<Target> near, far, against, against_far;
};

struct ChosenTargets {
  Target near;
  std::optional<Target> far, against, against_far;

  // All there are, near first.
  std::vector<Target*> all();
};

// The targets of a run: those given, or two of its own in the current directory: images where this
// machine can mount them, else directories. Throws Error(usage) when two are the same, lie one
// inside the other or cannot be compared.
ChosenTargets choose_targets(const NamedTargets& named, MountPower power);

// The plan's file systems that this machine can make and mount. Those it cannot are left out with a
// warning, or, if the user asked for them (`required`), are an Error(failed) that says what to
// install; so is an empty rest.
std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountPower power, bool required, Result& result);

// The least image that holds every set `copies` times on each of the file systems.
std::uint64_t image_size(std::span<const FileSet> sets, const std::vector<FileSystemKind>& kinds,
                         std::uint64_t copies);

// How often the plan's steps put a set on the volume of that role: the original and its copy.
std::uint64_t copies_on(Role role, const Plan& plan);

// What may help where there is no room for FC-Test.
inline constexpr std::string_view kRoomAdvice =
    "use --scale, fewer --operations or a larger volume";

// Throws Error(failed) if `bytes` is less than the set needs.
void check_room(const FileSet& set, const FileSystemLimits& limits, std::uint64_t copies,
                std::uint64_t bytes, const std::string& volume,
                std::string_view advice = kRoomAdvice);

// The same for what is free on a volume that is prepared, as far as it says so: bytes, and files
// where their number is limited.
void check_room(const FileSet& set, const Volume& volume, std::uint64_t copies,
                std::string_view advice = kRoomAdvice);

// Adds a warning for each kind of change that fitting made.
void warn_of_fitting(const FittedSet& fitted, const std::string& file_system, Result& result);

}  // namespace filereel
