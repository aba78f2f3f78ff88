// What is decided before a run touches anything: which volumes, how large, and whether the sets
// fit.
#pragma once

#include <optional>
#include <vector>

#include "filesets/file_set.h"
#include "replay/runner/result.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/name_rules.h"
#include "replay/volumes/target.h"

namespace filereel {

struct ChosenTargets {
  Target near;
  std::optional<Target> far;
};

// The targets of a run: those given, or two of its own in the current directory: images where this
// machine can mount them, else directories. Throws Error(usage) when near and far are the same.
ChosenTargets choose_targets(const std::optional<Target>& near, const std::optional<Target>& far,
                             MountPower power);

// The plan's file systems that this machine can make and mount. Those it cannot are left out with a
// warning, or, if the user asked for them (`required`), are an Error(failed) that says what to
// install; so is an empty rest.
std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountPower power, bool required, Result& result);

// The least image that holds every set `copies` times on each of the file systems.
std::uint64_t image_size(const std::vector<FileSet>& sets, const std::vector<FileSystemKind>& kinds,
                         std::uint64_t copies);

// How often the plan's steps put a set on the volume of that role: the original and its copy.
std::uint64_t copies_on(Role role, const Plan& plan);

// Throws Error(failed) if `bytes` is less than the set needs.
void check_room(const FileSet& set, const FileSystemLimits& limits, std::uint64_t copies,
                std::uint64_t bytes, const std::string& volume);

// The same for the number of files, of which `entries` can be made.
void check_entries(const FileSet& set, std::uint64_t copies, std::uint64_t entries,
                   const std::string& volume);

// Adds a warning for each kind of change that fitting made.
void warn_of_fitting(const FittedSet& fitted, const std::string& file_system, Result& result);

}  // namespace filereel
