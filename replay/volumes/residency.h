// Amount of a file in the page cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "replay/volumes/file_list.h"

namespace filereel {

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

}  // namespace filereel
