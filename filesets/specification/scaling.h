// Scales file sets without changing their structure.
#pragma once

#include <cstdint>

#include "filesets/file_set.h"

namespace filereel {

// Scales are above 0 and at most this.
inline constexpr double kMaxScale = 1'000'000;

// Throws Error(usage) unless `scale` is above 0 and at most kMaxScale.
void check_scale(double scale);

// Returns round(bytes * scale) exactly, halves rounded up. Throws Error(unusable_input) if the
// result exceeds 2^63 - 1.
std::uint64_t scale_bytes(std::uint64_t bytes, double scale);

// Number of files of a group of `count` at `scale`: round(count * scale), but at least 16, or
// `count` if that is less.
std::uint64_t scale_count(std::uint64_t count, double scale);

// Scales the sizes (and holes) of the entries from index `first` on and keeps all entries. The sum
// becomes exactly scale_bytes(sum); each file is off by at most one byte.
void scale_entries(EntryList& entries, std::size_t first, double scale);

// The same for a whole set, such as a captured tree.
void scale_file_set(FileSet& set, double scale);

}  // namespace filereel
