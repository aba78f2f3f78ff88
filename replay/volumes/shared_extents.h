// Checks whether a file shares its blocks with another.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

enum class Extents : std::uint8_t {
  none,    // no blocks (empty or inline), or unknown
  own,     // at least one is not shared
  shared,  // all are shared: a copy without data transfer
};

// Of the file `path` below the directory `root`, determined by FIEMAP.
Extents extents_of(int root, const std::string& path);

}  // namespace filereel
