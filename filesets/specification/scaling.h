// Making a file set smaller or larger without changing its character.
#pragma once

#include <cstdint>

#include "filesets/file_set.h"

namespace filereel {

// Scales lie above 0 and up to this.
inline constexpr double kMaxScale = 1'000'000;

// Throws Error(usage) unless `scale` is above 0 and at most kMaxScale.
void check_scale(double scale);

// round(bytes * scale), exactly, halves upwards. Throws Error(unusable_input) if the result is
// above 2^63 - 1.
std::uint64_t scale_bytes(std::uint64_t bytes, double scale);

// How many files a group of `count` has at `scale`: round(count * scale), but not fewer than 16, or
// than `count` where that is less.
std::uint64_t scale_count(std::uint64_t count, double scale);

// Scales the sizes (and holes) of the entries from index `first` on and keeps the entries. Their
// sum becomes scale_bytes(sum) exactly; no file is off by more than one byte.
void scale_entries(std::vector<Entry>& entries, std::size_t first, double scale);

// The same for a whole set, such as a captured tree.
void scale_file_set(FileSet& set, double scale);

}  // namespace filereel
