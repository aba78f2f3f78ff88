// One-line files of the kernel.
#pragma once

#include <string>

namespace filereel {

// The text of a file below /sys or /proc without white space at its ends; "" if it cannot be read.
std::string read_sysfs(const std::string& path);

}  // namespace filereel
