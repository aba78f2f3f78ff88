// Compares a tree on a volume with the one that should be there.
#pragma once

#include <stop_token>

#include "filesets/file_set.h"
#include "replay/results/result.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// Compares paths, kinds and sizes of what lies below the directory `root` with `expected`. What
// belongs to the volume itself (its marker, "lost+found") is passed over. No symbolic link is
// followed. A directory that cannot be read is a difference. Raises the limit of open files: each
// level takes one. After a requested stop the comparison is not complete.
TreeComparison compare_tree(int root, const FileSet& expected, const FileSystemLimits& limits,
                            const std::stop_token& stop);

}  // namespace filereel
