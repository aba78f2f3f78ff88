// Which volumes a run works on, and which file systems it makes on them.
#pragma once

#include <optional>
#include <vector>

#include "replay/results/result.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "traces/path_table.h"

namespace filereel {

// As on the command line, before they are checked.
struct NamedTargets {
  std::optional<Target> near = {};
  std::vector<Target> far = {};
  std::optional<Target> against = {};
  std::vector<Target> against_far = {};
};

struct ChosenTargets {
  std::vector<Target> volumes;  // by Role
  std::vector<Target> against;  // the same of the other side; a lone one shares the far ones

  bool all_directories() const;
};

// The targets of a run: those given, or `count` volumes of its own in the current directory: images
// where this machine can mount them, else directories. Throws Error(usage) when two are the same,
// lie one inside the other or cannot be compared.
ChosenTargets choose_targets(const NamedTargets& named, MountPower power, std::size_t count);

// The file systems that this machine can make and mount. Those it cannot are left out with a
// warning, or, if the user asked for them (`required`), are an Error(failed) that says what to
// install; so is an empty rest.
std::vector<FileSystemKind> usable_file_systems(const std::vector<FileSystemKind>& wanted,
                                                MountPower power, bool required, Result& result);

}  // namespace filereel
