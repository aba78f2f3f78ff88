// Directories for a file that cannot be stored in the intended one.
#pragma once

#include <optional>
#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

struct FallbackPlace {
  std::string path;  // absolute
  Descriptor directory;
};

// The directory `path` or else its nearest existing parent. Symbolic links are not followed: what
// replaced a part of the path leads elsewhere. `path` is absolute and was free of symbolic links.
std::optional<FallbackPlace> nearest_existing(const std::string& path);

// The directory `kept` in filereel's state directory.
std::optional<FallbackPlace> kept_in_state_directory();

}  // namespace filereel
