// Reads one-line kernel files.
#pragma once

#include <string>

namespace filereel {

// The text of a file below /sys or /proc, trimmed; "" if it cannot be read.
std::string read_sysfs(const std::string& path);

}  // namespace filereel
