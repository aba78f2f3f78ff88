// The only place that turns exceptions into text for the user. Texts of libraries (Boost, the C++
// library) are written for programmers: they name a function of the library instead of what failed.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace filereel {

// Returns one line: what failed, where, and what to do. An Error's own text; otherwise a text for
// the kind of exception. Exceptions of formats (JSON, YAML, zstd) are caught where they are read,
// with the file and the place: here they would be an error of filereel.
std::string failure_text(const std::exception& failure);

// --- What is wrong with compressed data, in words for messages.

// `code`: what a function of zstd returned, for which ZSTD_isError is true. Throws std::bad_alloc
// if there was not enough memory.
std::string_view zstd_failure(std::size_t code);

}  // namespace filereel
