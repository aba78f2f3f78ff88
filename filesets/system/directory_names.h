// What lies in a directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace filereel {

// The names in the directory, which is open for reading, without "." and "..", in no order; read at
// once, so that a deep tree takes one descriptor per level. Nothing, and errno says why, if it
// cannot be read.
std::optional<std::vector<std::string>> names_in(int directory);

}  // namespace filereel
