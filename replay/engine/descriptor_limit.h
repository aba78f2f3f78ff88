// Limits of open files of this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filereel {

// Descriptors needed by a replay with this number of open files of the trace and of threads,
// including each thread's cached directories and filereel's own files.
std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads);

std::uint64_t highest_descriptor_limit();

// Raises the limit to its maximum and returns it.
std::uint64_t raise_descriptor_limit() noexcept;

// Raises the limit if needed. Throws Error(failed) if that is not permitted.
void allow_descriptors(std::uint64_t open_files, std::size_t threads);

}  // namespace filereel
