// Limits of open files of this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filereel {

// Descriptors needed by a replay with this number of open files of the trace and of threads,
// including the least number of directories that each thread keeps, and the descriptors that
// filereel has open now.
std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads);

std::uint64_t highest_descriptor_limit();

// Raises the limit to its maximum and returns it.
std::uint64_t raise_descriptor_limit() noexcept;

// Raises the limit if needed. Returns the number of directories that each thread may keep open.
// Throws Error(failed) if the limit is too low.
std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads);

}  // namespace filereel
