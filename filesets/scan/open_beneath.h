// Directories of a tree that somebody else may be changing.
#pragma once

#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

// Opens the directory `path` ("" for `root` itself) with `flags` of open(2). Whatever the path
// holds, nothing outside `root` is reached and no symbolic link is followed. An empty Descriptor,
// with errno set, if it cannot be opened.
Descriptor open_directory_beneath(int root, const std::string& path, int flags);

}  // namespace filereel
