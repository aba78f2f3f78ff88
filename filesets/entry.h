// A directory, file or link of a file set, and how the content of a file is generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

// What determines the bytes of a file, besides the set's seed.
struct FileContent {
  std::uint64_t size = 0;  // bytes
  Content content;
  std::span<const Hole> holes;
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

  FileContent data() const { return {size, content, holes}; }
};

// A directory entry, by default writable for its owner.
inline Entry directory_entry(std::string path, std::uint32_t mode = 0755) {
  Entry entry;
  entry.path = std::move(path);
  entry.kind = EntryKind::directory;
  entry.mode = mode;
  return entry;
}

}  // namespace filereel
