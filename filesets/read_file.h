// Reading a file as a whole.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace filereel {

// The bytes of the file, of which `most` at the most; nothing if it cannot be opened or read, and
// errno says why (EISDIR for a directory). Waits for the end of what is a pipe.
std::optional<std::string> read_file(const std::string& path,
                                     std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace filereel
