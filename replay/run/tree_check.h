// Compares a tree on a volume with the expected one.
#pragma once

#include <stop_token>

#include "filesets/file_set.h"
#include "replay/results/result.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// Compares paths, kinds and sizes below the directory `root` with `expected`. Ignores the volume's
// own entries (its marker, "lost+found"). Does not follow symbolic links. An unreadable directory
// is a difference. Raises the limit of open files: each level needs one. After a requested stop the
// comparison is incomplete.
TreeComparison compare_tree(int root, const FileSet& expected, const FileSystemLimits& limits,
                            const std::stop_token& stop);

}  // namespace filereel
