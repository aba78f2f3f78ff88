// Lists directories.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace filereel {

// Returns the names in a directory open for reading, unordered, without "." and "..". Reads all
// names at once, so that a deep tree needs one descriptor per level. Returns nothing on failure,
// with errno set.
std::optional<std::vector<std::string>> names_in(int directory);

// The same for a directory of the kernel, such as one in /sys or /proc, whose entries come and go;
// empty if it cannot be read.
std::vector<std::string> names_at(const std::string& path);

}  // namespace filereel
