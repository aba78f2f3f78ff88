// Whether a file has blocks of its own or shares them with another.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

enum class Extents : std::uint8_t {
  none,    // no blocks (empty, or inside the inode), or the file system does not say
  own,     // at least one is the file's alone
  shared,  // all are shared: a copy that moved no data
};

// Of the file `path` below the directory `root`, by FIEMAP.
Extents extents_of(int root, const std::string& path);

}  // namespace filereel
