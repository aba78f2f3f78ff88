// Generates the entries of a file set from groups of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "filesets/specification/distribution.h"
#include "filesets/specification/tree.h"

namespace filereel {

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
