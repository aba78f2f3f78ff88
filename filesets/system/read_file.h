// Reading a file as a whole.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace filereel {

// The bytes of the file, of which `most` at the most; nothing if it cannot be opened or read, and
// errno says why (EISDIR for a directory). Waits for the end of what is a pipe.
std::optional<std::string> read_file(const std::string& path,
                                     std::size_t most = std::numeric_limits<std::size_t>::max());

// All the bytes that are left of an open file; nothing if it cannot be read, and errno says why.
// Throws Error(unusable_input) if they are more than `most`: before any of them is read where the
// file has a size, else when so many were. `name` is the file's in the text.
std::optional<std::string> read_whole(int file, std::size_t most, std::string_view name);

// Throws Error(unusable_input) if there is a FIFO, a device or a socket of this name: reading it
// could wait for ever, and twice would give two things.
void refuse_special_file(const std::string& path);

}  // namespace filereel
