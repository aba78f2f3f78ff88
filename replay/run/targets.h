// Chooses the volumes of a run and the file systems to format on them.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/plan/plan.h"
#include "replay/results/result.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "traces/path_table.h"

namespace filereel {

// Targets of the command line, unchecked.
struct NamedTargets {
  std::optional<Target> near = {};
  std::vector<Target> far = {};
  std::vector<Target> against = {};      // measured in turns with near
  std::vector<Target> against_far = {};  // as many as far for each of them, or none
  std::optional<Target> control = {};    // measured in turns with all of them
  bool listed = false;                   // near and against are a list: messages number them
};

// The targets of one result.
struct SideTargets {
  std::vector<Target> near;  // by part; one without parts
  std::vector<Target> far;   // Role::far and later roles
};

struct ChosenTargets {
  SideTargets first;
  // Those of against, then the control. With near alone: they share the far targets.
  std::vector<SideTargets> against;

  // All targets: near, far, and those of against.
  std::vector<std::pair<Target*, Role>> all();
};

// The targets of a run: those named, or `count` temporary volumes in the current directory (images
// if this machine can mount them, otherwise directories). Throws Error(usage) if two are the same,
// overlap, contain one another or cannot be compared.
ChosenTargets choose_targets(const NamedTargets& named, std::span<const DrivePart> parts,
                             MountCapability power, std::size_t count);

// The file systems that this machine can format and mount. Unavailable ones are skipped with a
// warning. If the user requested them (`required`), or if none is left, throws Error(failed) that
// says what to install.
std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountCapability power, bool required,
                                                Result& result);

}  // namespace filereel
