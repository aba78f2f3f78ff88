// The files of a volume in the page cache: how much of them it holds, and how to bypass it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/entries.h"

namespace filereel {

// --- Some files of a set on a volume.

// Keeps 4 bytes per file and creates paths one at a time, because a set may have millions of files.
class FileList {
 public:
  FileList() = default;
  // The regular files of `entries`, which outlive the list, below the directory `root` of the
  // volume (empty: its root). `wanted`: only those with such a path in the set.
  explicit FileList(const EntryList& entries, std::string root = "",
                    const std::function<bool(std::string_view)>& wanted = {})
      : entries_(&entries), root_(std::move(root)) {
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (entries.kind(i) != EntryKind::file || (wanted && !wanted(entries.path(i)))) continue;
      numbers_.push_back(i);
      bytes_ += entries.file_size(i);
    }
  }

  std::size_t size() const { return numbers_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // total
  // Below the root of the volume.
  std::string path(std::size_t file) const {
    const std::string path = entries_->path(numbers_[file]);
    return root_.empty() ? path : root_ + "/" + path;
  }

 private:
  const EntryList* entries_ = nullptr;
  std::string root_;
  std::vector<std::uint32_t> numbers_;
  std::uint64_t bytes_ = 0;
};

// --- Amount of a file in the page cache.

struct Residency {
  std::uint64_t cached = 0;  // bytes, whole pages
  std::uint64_t size = 0;    // bytes
};

// For a regular file or block device open for reading, by cachestat(2) if available (kernel 6.5),
// otherwise by mincore(2) for regular files. An empty file, or one for which neither works, has
// size 0. Does not load anything into the cache.
Residency residency(int fd);

// Whether the kernel has cachestat(2).
bool has_cachestat();

// Reads the files, with paths below the directory `root`, until the page cache holds them or holds
// no more of them. Returns the cached share of their bytes, 0 to 1; nothing if there are none or it
// is unknown. Skips files that cannot be opened. A stop request ends it early.
std::optional<double> warm_files(int root, const FileList& files, const std::stop_token& stop);

// Drops the clean pages of an open file or block device from the page cache.
void drop_from_cache(int fd);

// Drops the page cache and the dentry and inode caches of the whole machine; false without
// permission.
bool drop_all_caches();

// --- Checks for direct I/O, which bypasses the page cache.

// Tests direct I/O in the directory `root` with a file `name`, which must not exist and is removed
// again: one write and one read of `size` bytes at the offset `align`, both powers of two or
// multiples of a sector. Returns false if it fails, or if the file system reports that it uses the
// page cache anyway.
bool can_do_direct_io(int root, const std::string& name, std::uint64_t size, std::uint64_t align);

}  // namespace filereel
