// File content as a pure function: every byte follows from (set seed, content, offset), so any part
// of any file can be made or verified on its own. These bytes are part of what a reel or a file set
// means and never change.
//
// Compressibility holds for any compressor that sees 4 KiB or more at a time: every 4 KiB consists
// of 16 units that begin with random bytes and repeat them. zstd at level 1 comes within 3 % of the
// target for files of 64 KiB and more (below 50 permille: within 0.01), and
// within 0.03 for those of 4 KiB and more. 985 permille and more does not compress at all; 0 is
// zeros.
//
// Duplicates are whole 64 KiB chunks, taken from 64 chunks that belong to the set and exist once
// for each compressibility. In a set with few chunks of one compressibility a duplicate may stay
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filesets/file_set.h"

namespace filereel {

// Writes bytes [offset, offset + out.size()) of the content into `out`. Allocates nothing and never
// fails; may be called from any thread.
void fill_content(std::uint64_t set_seed, const Content& content, std::uint64_t offset,
                  std::span<std::byte> out) noexcept;

// The same with the entry's holes as zeros: what a reader of the file gets.
void fill_entry(std::uint64_t set_seed, const Entry& entry, std::uint64_t offset,
                std::span<std::byte> out) noexcept;

// The first position in `data` that differs from what fill_entry would write, or data.size().
std::size_t first_difference(std::uint64_t set_seed, const Entry& entry, std::uint64_t offset,
                             std::span<const std::byte> data) noexcept;

}  // namespace filereel
