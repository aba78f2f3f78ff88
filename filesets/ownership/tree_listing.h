// A tree as filereel left it, to be known again: what was added, changed or replaced since is
// somebody else's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filesets/ownership/file_state.h"

namespace filereel {

// A fingerprint of each entry below the open directory, in ascending order: of its path, its kind,
// its identity, and for all but directories of its size and times. Inode numbers and times of birth
// are left out where the file system makes them up anew (FUSE, FAT). Throws Error(failed) as
// walk_tree does.
std::vector<std::uint64_t> list_tree(int directory, const std::string& shown, std::uint64_t seed);

// Removes every entry below the directory, each only if `entries` has it at that moment. Looks
// at all first: throws Error(failed), with nothing removed, that names one which is not in the
// list.
void remove_listed(int directory, const std::string& shown, std::uint64_t seed,
                   std::span<const std::uint64_t> entries);

}  // namespace filereel
