// What is wrong with compressed data, in words for messages.
#pragma once

#include <cstddef>
#include <string_view>

namespace filereel {

// `code`: what a function of zstd returned, for which ZSTD_isError is true. Throws std::bad_alloc
// if there was not enough memory.
std::string_view zstd_failure(std::size_t code);

}  // namespace filereel
