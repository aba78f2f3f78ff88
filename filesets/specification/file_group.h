// Generates the entries of a file set from groups of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "filesets/specification/distribution.h"

namespace filereel {

// --- The shape of a directory tree: its directories and the number of files in each.

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

struct ExtensionShare {
  std::string name;         // without the dot; empty: no extension
  std::uint32_t share = 0;  // thousandths of a percent of the group's files
  std::uint16_t compressed_permille = 1000;
};

// Similar files, specified by count and total size.
struct FileGroup {
  std::string path;  // parent directory; empty: the root of the set
  std::uint64_t count = 0;
  std::uint64_t total = 0;                // bytes
  std::optional<SizeDistribution> sizes;  // none: equal sizes, if divisible
  TreeShape tree;
  std::vector<ExtensionShare> extensions;    // shares add up to 100 %; empty: no extensions
  std::uint16_t compressed_permille = 1000;  // used if there are no extensions
  std::uint16_t duplicate_permille = 0;
};

// Returns `group` at `scale`. The total is exactly round(total * scale). The count is reduced first
// (scale_count); the rest is taken from the sizes, whose limits scale with their mean.
FileGroup scale_group(const FileGroup& group, double scale);

// Appends entries to a file set in creation order.
class FileSetBuilder {
 public:
  // Keeps a reference to `set`. Adds at most `max_entries` entries.
  FileSetBuilder(FileSet& set, std::uint64_t max_entries)
      : set_(set), max_entries_(max_entries), known_(set.entries, false) {}

  // Adds the missing directories of `path`, itself included. Throws Error(unusable_input) with a
  // text that starts with `where` if one of them is another kind of entry.
  void add_directories(std::string_view path, std::string_view where);

  // Adds an entry after its parent directories. Throws Error(unusable_input) if the path is invalid
  // or a duplicate, or if a hard link's target is not an earlier file.
  void add(const Entry& entry, std::string_view where);

  // Adds the files of a group (already scaled) and their directories. Names are numbered across the
  // whole set: d000, d001 ...; f000000.dll, f000001.txt ...
  void add_group(const FileGroup& group, std::string_view where);

  std::size_t size() const { return set_.entries.size(); }

 private:
  void check_room(std::uint64_t more, std::string_view where) const;
  // The number of the directory `name` below another one. Adds it if it is missing.
  std::uint32_t directory_below(std::uint32_t parent, std::string_view name,
                                std::string_view where);
  // Adds the files of a directory of a group, with the extensions and sizes from number `first` on.
  struct GroupFiles;
  void add_files(std::uint32_t directory, std::uint64_t count, GroupFiles& files);

  FileSet& set_;
  std::uint64_t max_entries_;
  std::uint64_t groups_ = 0;
  std::uint64_t files_named_ = 0;
  std::uint64_t directories_named_ = 0;
  EntryFinder known_;  // all entries but the files added by add_group
};

}  // namespace filereel
