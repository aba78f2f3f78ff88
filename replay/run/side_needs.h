// The space that the jobs of a plan need on the volumes of a side, compared with what these have,
// before any volume is touched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/jobs/job.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "replay/volumes/volume.h"

namespace filereel {

struct SideNeeds {
  struct OfJob {
    JobNeeds needs;
    std::string advice;                      // if space is lacking
    std::uint64_t trees = 1;                 // on each volume, of several clients
    std::vector<DriveCondition> conditions;  // of its points, one or more
  };
  std::vector<OfJob> jobs;  // those with volumes

  // Bytes of an image that is large enough for all jobs.
  std::uint64_t image(Role role) const;
};

// A volume before take().
struct UntouchedVolume {
  const Volume* volume = nullptr;
  TargetKind kind = TargetKind::directory;
  std::string name;  // in messages
  Role role = Role::near;
  const SideNeeds* needs = nullptr;  // of its side
};

// Throws Error(failed) if a volume cannot hold what a job needs there, or if volumes share a file
// system that cannot hold the needs of all. For a volume that may be too small, a sparse file
// of its size in the state directory is formatted first, to see the space on it.
void check_space(std::span<const UntouchedVolume> volumes, MountCapability power);

}  // namespace filereel
