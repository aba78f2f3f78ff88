// From the description of a group of files to the entries of a file set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

// Files that are alike: made by number and total size.
struct FileGroup {
  std::string path;  // the directory that they lie below; empty: the set's root
  std::uint64_t count = 0;
  std::uint64_t total = 0;                // bytes
  std::optional<SizeDistribution> sizes;  // nothing: all files have the same size, if divisible
  TreeShape tree;
  std::vector<ExtensionShare> extensions;    // shares add up to 100 %; empty: no extensions
  std::uint16_t compressed_permille = 1000;  // where there are no extensions
  std::uint16_t duplicate_permille = 0;
};

// `group` at `scale`: the total is round(total * scale) exactly, the count becomes smaller first
// (scale_count), and what remains comes off the sizes, whose limits move with their mean.
FileGroup scale_group(const FileGroup& group, double scale);

// Appends entries to a file set in creation order.
class FileSetBuilder {
 public:
  // Keeps a reference to `set`. No more than `max_entries` entries are made.
  FileSetBuilder(FileSet& set, std::uint64_t max_entries) : set_(set), max_entries_(max_entries) {}

  // Adds the directories that are still missing on `path` itself. Throws Error(unusable_input),
  // with a text that begins with `where`, if one of them is something else already.
  void add_directories(std::string_view path, std::string_view where);

  // Adds an entry behind the directories that it lies in. Throws Error(unusable_input) if the path
  // is unusable or taken, or if a hard link's target is not an earlier file.
  void add(Entry entry, std::string_view where);

  // Makes the files of a group (already scaled) and their directories. Names are numbered through
  // the whole set: d000, d001 ...; f000000.dll, f000001.txt ...
  void add_group(const FileGroup& group, std::string_view where);

  std::size_t size() const { return set_.entries.size(); }

 private:
  void check_room(std::uint64_t more, std::string_view where) const;

  FileSet& set_;
  std::uint64_t max_entries_;
  std::uint64_t groups_ = 0;
  std::uint64_t files_named_ = 0;
  std::uint64_t directories_named_ = 0;
  std::unordered_map<std::string, EntryKind> taken_;  // all but the files that add_group makes
};

}  // namespace filereel
