// Reads whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace filereel {

// Returns at most `most` bytes of the file, or nothing on failure, with errno set (EISDIR for a
// directory). Reads a pipe to its end.
std::optional<std::string> read_file(const std::string& path,
                                     std::size_t most = std::numeric_limits<std::size_t>::max());

// The number after a word at the start of a line of the kernel's text; 0 if there is none.
std::uint64_t number_after(const std::string& text, std::string_view word);

// Returns the remaining bytes of an open file, or nothing on failure, with errno set. Throws
// Error(unusable_input) if they exceed `most`: before reading if the file has a size, otherwise
// after `most` bytes. `name` is the file's name in the text.
std::optional<std::string> read_whole(int file, std::size_t most, std::string_view name);

// Throws Error(unusable_input) for a FIFO, a device or a socket: reading it could block forever,
// and two reads would give different content.
void refuse_special_file(const std::string& path);

// --- Reads one-line kernel files.

// The text of a file below /sys or /proc, trimmed; "" if it cannot be read.
std::string read_sysfs(const std::string& path);

}  // namespace filereel
