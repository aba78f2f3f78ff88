// A file set: which directories and files exist, and how their bytes are made.
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

// Bytes [offset, offset + length) of a file that take no space and read as zeros.
struct Hole {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Hole&) const = default;
};

// How a file's bytes are made. Together with the set's seed this decides every byte.
struct Content {
  std::uint64_t key =
      0;  // files of one set with the same key (and shares) begin with the same bytes
  // Size after compression (zstd level 1) in thousandths of the size before: 1000 does not
  // compress.
  std::uint16_t compressed_permille = 1000;
  // Share of the file's 64 KiB chunks, in thousandths, that also stand elsewhere in the set.
  std::uint16_t duplicate_permille = 0;
  bool operator==(const Content&) const = default;
};

struct Entry {
  static constexpr std::int64_t kNoTime = INT64_MIN;

  std::string path;  // bytes, relative to the set's root, '/' between components; see check_path
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0644;        // permission bits, 0 to 07777
  std::uint64_t size = 0;           // bytes; files only
  std::int64_t mtime_ns = kNoTime;  // since 1970-01-01 UTC, or kNoTime for "as it comes"
  Content content;                  // files only
  std::string target;       // symlink: its text; hard link: the path of an earlier file entry
  std::vector<Hole> holes;  // files only; ascending, disjoint, not empty, inside the file
};

// A directory, by default one that its owner can work in.
inline Entry directory_entry(std::string path, std::uint32_t mode = 0755) {
  Entry entry;
  entry.path = std::move(path);
  entry.kind = EntryKind::directory;
  entry.mode = mode;
  return entry;
}

struct FileSetTotals {
  std::uint64_t files = 0;  // regular files, a hard link not counted again
  std::uint64_t directories = 0;
  std::uint64_t symlinks = 0;
  std::uint64_t hard_links = 0;
  std::uint64_t bytes = 0;  // of file content, holes included
  std::uint64_t largest = 0;
};

// Entries stand in creation order: every directory before what lies in it, every file before its
// hard links. Every directory that a path runs through is an entry; the root is not.
struct FileSet {
  std::string name;
  std::string description;
  std::string source;  // where the figures come from
  std::uint64_t seed = 0;
  std::vector<Entry> entries;

  FileSetTotals totals() const;
};

// Throws Error(unusable_input) unless `path` is relative, without empty, "." and ".." components,
// NUL bytes, and at most PATH_MAX long with components of at most 255 bytes. `where` begins the
// text.
void check_path(std::string_view path, std::string_view where);

// Throws Error(unusable_input) unless all that this header says of a set holds for `set`.
void check_file_set(const FileSet& set);

}  // namespace filereel
