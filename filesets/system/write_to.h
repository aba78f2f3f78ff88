// Complete writes.
#pragma once

#include <string_view>

namespace filereel {

// Writes all of `text` to a descriptor, even a non-blocking one. Returns 0 or the error number.
int write_to(int descriptor, std::string_view text) noexcept;

}  // namespace filereel
