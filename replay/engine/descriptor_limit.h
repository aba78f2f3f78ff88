// Limits of open files of this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filereel {

// Directories that each thread of a replay keeps open, if the limit permits (parent_cache.h).
inline constexpr std::size_t kMostCachedDirectories = 32;

// Descriptors needed by a replay with this number of open files of the trace and of threads,
// including the directories that each thread caches, and the descriptors that filereel has open
// now.
std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads,
                                 std::size_t directories = kMostCachedDirectories);

std::uint64_t highest_descriptor_limit();

// Raises the limit to its maximum and returns it.
std::uint64_t raise_descriptor_limit() noexcept;

// Raises the limit if needed. Returns the number of directories that each thread may cache, a power
// of two: fewer where the limit is low. Throws Error(failed) if the limit does not suffice for one.
std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads);

}  // namespace filereel
