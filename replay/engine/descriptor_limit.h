// How many files this process may have open.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filereel {

// For a replay with so many open files of the trace and so many threads, each with its cached
// directories, and what filereel has open itself.
std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads);

std::uint64_t highest_descriptor_limit();

// Raises the limit as far as it goes, and gives it.
std::uint64_t raise_descriptor_limit() noexcept;

// Raises the limit as far as needed. Throws Error(failed) if that is not allowed.
void allow_descriptors(std::uint64_t open_files, std::size_t threads);

}  // namespace filereel
