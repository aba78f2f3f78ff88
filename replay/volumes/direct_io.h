// Whether files can be read and written past the page cache.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

// Tries it in the directory `root` with a file `name`, which must not be there and is removed
// again: one write and one read of `size` bytes at the offset `align`, both powers of two or
// multiples of a sector. False where that is refused, or where the file system says that it would
// go through the cache all the same.
bool can_do_direct_io(int root, const std::string& name, std::uint64_t size, std::uint64_t align);

}  // namespace filereel
