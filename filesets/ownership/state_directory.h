// The directory for filereel's leases (lease.h), outside any target that others may write to.
#pragma once

#include <cstdint>
#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

struct StateDirectory {
  std::string path;  // absolute
  Descriptor directory;
};

// Opens $FILEREEL_STATE_DIR, or /var/lib/filereel for root, or $XDG_STATE_HOME/filereel, or
// ~/.local/state/filereel. A missing directory is created for its owner only. Throws Error(failed)
// if it cannot be created, or if another user owns it or can write to it.
StateDirectory open_state_directory();

// Random numbers from the kernel: 64 bits, and 128 bits as a unique name.
std::uint64_t random_number();
inline constexpr std::size_t kRandomName = 32;  // characters
std::string random_name();

}  // namespace filereel
