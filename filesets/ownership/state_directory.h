// Where filereel keeps its leases (lease.h): out of reach of whoever may write to a target.
#pragma once

#include <cstdint>
#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

struct StateDirectory {
  std::string path;  // absolute
  Descriptor directory;
};

// $FILEREEL_STATE_DIR, or /var/lib/filereel for root, or $XDG_STATE_HOME/filereel, or
// ~/.local/state/filereel. Made if it is missing, for its owner alone. Throws Error(failed) where
// it cannot be made, or belongs to or can be written by another user.
StateDirectory open_state_directory();

// From the kernel's random numbers: 64 bits, and 128 bits as a name that nobody else has.
std::uint64_t random_number();
inline constexpr std::size_t kRandomName = 32;  // characters
std::string random_name();

}  // namespace filereel
