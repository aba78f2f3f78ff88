// The command line: `filereel COMMAND …`.
#pragma once

#include <cstddef>
#include <string>

namespace filereel {

// Runs the command given by the arguments. Returns the exit code: 0 done, 1 failed, 2 usage,
// 3 unusable input, 130 interrupted.
int run_command_line(int argc, const char* const* argv);

// Makes a message one line, of about `longest` bytes. Cuts the middle of a long text: its start
// says what failed, its end what to do.
std::string one_line(std::string text, std::size_t longest);

// Prints the text of an error as one line on standard error.
void complain(const std::string& text);

}  // namespace filereel
