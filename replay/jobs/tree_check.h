// Compares a tree on a volume with the expected one.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "filesets/entries.h"
#include "replay/results/result.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// Entries that must exist in a directory, itself one of them; "": in the root.
struct ExpectedTree {
  std::string directory;
  EntryList entries;
};

// Compares paths, kinds and sizes below the directory `root` with `expected`, which has different
// directories or one tree in the root. Ignores the volume's
// own entries (its marker, "lost+found"). Does not follow symbolic links. An unreadable directory
// is a difference. Raises the limit of open files: each level needs one. After a requested stop the
// comparison is incomplete.
TreeComparison compare_tree(int root, std::span<const ExpectedTree> expected,
                            const FileSystemLimits& limits, const std::stop_token& stop);

}  // namespace filereel
