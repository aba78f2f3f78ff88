// A file set: directories and files, and how the content of files is generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace filereel {

inline constexpr std::size_t kMaxComponent = 255;  // bytes: NAME_MAX of every Linux file system

enum class EntryKind : std::uint8_t { directory, file, symlink, hard_link };

// Bytes [offset, offset + length) of a file that are not allocated and read as zeros.
struct Hole {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Hole&) const = default;
};

// How the bytes of a file are generated. Together with the set's seed it determines every byte.
struct Content {
  std::uint64_t key = 0;  // files of one set with equal key and shares start with the same bytes
  // Compressed size (zstd level 1) in thousandths of the original size; 1000: incompressible.
  std::uint16_t compressed_permille = 1000;
  // Thousandths of the file's 64 KiB chunks that also occur elsewhere in the set.
  std::uint16_t duplicate_permille = 0;
  bool operator==(const Content&) const = default;
};

struct Entry {
  static constexpr std::int64_t kNoTime = INT64_MIN;

  std::string path;  // bytes, relative to the set's root, '/' between components; see check_path
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0644;        // permission bits, 0 to 07777
  std::uint64_t size = 0;           // bytes; files only
  std::int64_t mtime_ns = kNoTime;  // since 1970-01-01 UTC, or kNoTime: not set
  Content content;                  // files only
  std::string target;               // symlink: its text; hard link: path of an earlier file entry
  std::vector<Hole> holes;          // files only; ascending, disjoint, non-empty, within the file
};

// A directory entry, by default writable for its owner.
inline Entry directory_entry(std::string path, std::uint32_t mode = 0755) {
  Entry entry;
  entry.path = std::move(path);
  entry.kind = EntryKind::directory;
  entry.mode = mode;
  return entry;
}

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
  std::vector<Entry> entries;

  FileSetTotals totals() const;
};

// Throws Error(unusable_input) unless `path` is relative, without empty, "." and ".." components or
// NUL bytes, and at most PATH_MAX bytes long with components of at most 255 bytes. `where` starts
// the text.
void check_path(std::string_view path, std::string_view where);

// Throws Error(unusable_input) unless `set` satisfies all constraints stated in this header.
void check_file_set(const FileSet& set);

}  // namespace filereel
