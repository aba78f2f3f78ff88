// How this folder works: a FileSet says which files exist before and after work. It has an
// EntryList of entries (entries.h: path, kind, size, permissions, content), in the order of their
// creation. Everything else of this layer makes file sets (specification, formats, scan,
// catalogue), generates their bytes (content), or creates and removes files safely (ownership).
// Start with entries.h, then FileSet here.
//
// A file set: directories and files, and how the content of files is generated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filesets/entries.h"

namespace filereel {

struct FileSetTotals {
  std::uint64_t files = 0;  // regular files, without hard links
  std::uint64_t directories = 0;
  std::uint64_t symlinks = 0;
  std::uint64_t hard_links = 0;
  std::uint64_t bytes = 0;  // of file content, holes included
  std::uint64_t largest = 0;
};

// Entries are in creation order: directories before their entries, files before their hard links.
// Every directory of a path has an entry, except the root.
struct FileSet {
  std::string name;
  std::string description;
  std::string source;  // where the figures come from
  std::uint64_t seed = 0;
  EntryList entries;

  FileSetTotals totals() const;
};

// Throws Error(unusable_input) unless `path` is relative, without empty, "." and ".." components or
// NUL bytes, and at most PATH_MAX bytes long with components of at most 255 bytes. `where` starts
// the text.
void check_path(std::string_view path, std::string_view where);
// Why the path is invalid; "" if it is valid.
std::string path_fault(std::string_view path);

// Throws Error(unusable_input) unless `set` satisfies all constraints stated in this header.
void check_file_set(const FileSet& set);

}  // namespace filereel
