// The shape of a directory tree: which directories there are and how many files lie in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace filereel {

enum class FileSpread : std::uint8_t {
  varied,  // many directories with few files and some with many, at most five times the mean
  even,    // the same number everywhere, give or take one
};

// After Impressions (Agrawal et al., FAST 2009), whose code has 10.2 files per directory and
// chooses a new directory's parent with a probability proportional to its number of subdirectories
// plus 2.
struct TreeShape {
  double files_per_directory = 10.2;  // mean, 0.1 or more; the top directory counts as one
  std::uint32_t max_depth = 16;       // levels below the top directory; 0: everything lies in it
  FileSpread spread = FileSpread::varied;
  bool operator==(const TreeShape&) const = default;
};

struct TreeDirectory {
  static constexpr std::size_t kNoParent = SIZE_MAX;

  std::size_t parent = kNoParent;  // index; always smaller than the directory's own
  std::uint32_t depth = 0;         // the top directory has 0
  std::uint64_t files = 0;
};

// How many directories plan_tree makes, the top one included.
std::uint64_t directory_count(const TreeShape& shape, std::uint64_t files);

// The directories in creation order, depth first: the top directory, then each directory before its
// subdirectories, which follow one after another with all that lies below them. The numbers of
// files add up to `files`. A function of the arguments alone.
std::vector<TreeDirectory> plan_tree(const TreeShape& shape, std::uint64_t files,
                                     std::uint64_t seed);

}  // namespace filereel
