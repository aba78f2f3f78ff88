// Compares a tree on a volume with the one that should be there.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "filesets/file_set.h"
#include "replay/volumes/file_system.h"

namespace filereel {

struct TreeDifference {
  std::string path;
  std::string text;  // "is missing", "has 12 bytes instead of 40" …
};

struct TreeComparison {
  static constexpr std::size_t kExamples = 8;

  std::uint64_t entries = 0;             // that should be there
  std::uint64_t differences = 0;         // of paths, kinds and sizes
  std::uint64_t left_out = 0;            // links that the file system cannot hold
  std::vector<TreeDifference> examples;  // the first differences in the order of paths
};

// Compares paths, kinds and sizes of what lies below the directory `root` with `expected`. What
// belongs to the volume itself (its marker, "lost+found") is passed over. No symbolic link is
// followed. A directory that cannot be read is a difference. Raises the limit of open files: each
// level takes one. After a requested stop the comparison is not complete.
TreeComparison compare_tree(int root, const FileSet& expected, const FileSystemLimits& limits,
                            const std::stop_token& stop);

}  // namespace filereel
