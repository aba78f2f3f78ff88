// Safe access to a tree that other processes may change.
#pragma once

#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

enum class MountPoints { refuse, cross };

// Opens the directory `path` ("" for `root` itself) with `flags` of open(2). Never leaves `root`
// and never follows a symbolic link. Returns an empty Descriptor with errno set on failure: EXDEV
// for a refused mount point.
Descriptor open_directory_beneath(int root, const std::string& path, int flags,
                                  MountPoints mount_points);

}  // namespace filereel
