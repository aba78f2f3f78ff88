// Checks for direct I/O, which bypasses the page cache.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

// Tests direct I/O in the directory `root` with a file `name`, which must not exist and is removed
// again: one write and one read of `size` bytes at the offset `align`, both powers of two or
// multiples of a sector. Returns false if it fails, or if the file system reports that it uses the
// page cache anyway.
bool can_do_direct_io(int root, const std::string& name, std::uint64_t size, std::uint64_t align);

}  // namespace filereel
