// Standard input, output and error of the process: always there, and written to without surprises.
#pragma once

#include <string_view>

namespace filereel {

// To be called before anything else opens a file. /dev/null takes the place of a standard stream
// that the caller closed, or the next file that is opened would take its number and get what is
// meant for a terminal: standard input is at its end, remarks are lost, and writing results fails,
// so that they are not lost without a word. A program that is recorded finds the stream closed, as
// it would without filereel. Throws Error(failed) if there is no /dev/null.
void reserve_standard_streams();

// Writes all of `text` to a descriptor, also to one that does not block. Returns 0, or the error's
// number.
int write_to(int descriptor, std::string_view text) noexcept;

}  // namespace filereel
