// Commands of fcntl and ioctl that neither change files nor descriptors. All others on files are
// counted.
#pragma once

#include <cstdint>

namespace filereel {

bool is_harmless_fcntl(std::uint64_t command);
bool is_harmless_ioctl(std::uint64_t command);

}  // namespace filereel
