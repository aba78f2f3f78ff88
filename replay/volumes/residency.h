// How much of a file stands in the page cache.
#pragma once

#include <cstdint>

namespace filereel {

struct Residency {
  std::uint64_t cached = 0;  // bytes, whole pages
  std::uint64_t size = 0;    // bytes
};

// For a regular file or block device open for reading, by cachestat(2) where the kernel has it
// (6.5), else by mincore(2) for regular files. An empty file, or one for which neither works, has
// size 0. Reads nothing into the cache itself.
Residency residency(int fd);

// Whether the kernel has cachestat(2).
bool has_cachestat();

// Drops what the page cache holds of an open file or block device and is already written.
void drop_from_cache(int fd);

// Empties the page cache and the caches of names and inodes of the whole machine; false without the
// right to do so.
bool drop_all_caches();

}  // namespace filereel
