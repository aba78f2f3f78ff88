// The shape of a directory tree: its directories and the number of files in each.
#pragma once

#include <cstdint>
#include <vector>

namespace filereel {

enum class FileSpread : std::uint8_t {
  varied,  // many directories with few files, some with up to five times the mean
  even,    // equal numbers, differing by at most one
};

// After Impressions (Agrawal et al., FAST 2009). Its code has 10.2 files per directory and chooses
// a new directory's parent with a probability proportional to the parent's number of subdirectories
// plus 2.
struct TreeShape {
  double files_per_directory = 10.2;  // mean, at least 0.1; includes the top directory
  std::uint32_t max_depth = 16;       // levels below the top directory; 0: no subdirectories
  FileSpread spread = FileSpread::varied;
  bool operator==(const TreeShape&) const = default;
};

struct TreeDirectory {
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  std::uint32_t parent = kNoParent;  // index, smaller than the directory's own
  std::uint32_t depth = 0;           // top directory: 0
  std::uint64_t files = 0;
};

// Number of directories of plan_tree, including the top directory.
std::uint64_t directory_count(const TreeShape& shape, std::uint64_t files);

// Returns the directories in creation order, depth first: each directory is followed by its
// subdirectories with everything below them. The numbers of files add up to `files`. The result
// depends on the arguments only. Requires fewer than 2^31 directories.
std::vector<TreeDirectory> plan_tree(const TreeShape& shape, std::uint64_t files,
                                     std::uint64_t seed);

}  // namespace filereel
