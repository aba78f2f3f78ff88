// Directories and files that have two names on this machine.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/path_resolution.h"

namespace filereel {

// Mounts of what another mount shows, too: bind mounts, and file systems that are mounted twice.
// Empty if the process is in another mount namespace, whose names mean something else.
std::vector<BoundName> bind_mounts(std::uint32_t process);

}  // namespace filereel
