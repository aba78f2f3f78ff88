// Finds processes of this machine that work for volumes.
#pragma once

#include <optional>
#include <string_view>

#include <sys/types.h>

#include "filesets/system/mounts.h"

namespace filereel {

// Processor time of a process so far, in seconds; 0 if it is unknown.
double process_cpu_s(pid_t process);

// User time of a process and of those of its children that have ended and that it has waited for,
// in seconds; nothing if it is unknown.
std::optional<double> process_user_s(pid_t process);

// The driver of a mounted FUSE file system, which another program has started. The kernel names the
// connection of each open /dev/fuse since Linux 6.15; before that, the mount point in the command
// line tells. Nothing if neither does, as for processes of other users.
std::optional<pid_t> fuse_driver_of(const MountedFileSystem& mounted);

}  // namespace filereel
