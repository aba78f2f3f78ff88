// How much of a file stands in the page cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

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

// Reads the files, whose paths are below the directory `root`, until the page cache holds them or
// holds no more of them. The share of their bytes that it holds then, 0 to 1; nothing where there
// are none or the kernel does not say. Leaves out what cannot be opened. A stop ends it early.
std::optional<double> warm_files(int root, std::span<const std::string> paths,
                                 const std::stop_token& stop);

// Drops what the page cache holds of an open file or block device and is already written.
void drop_from_cache(int fd);

// Empties the page cache and the caches of names and inodes of the whole machine; false without the
// right to do so.
bool drop_all_caches();

}  // namespace filereel
