// The command line: `filereel COMMAND …`.
#pragma once

#include <cstddef>
#include <string>

namespace filereel {

// --- Standard input, output and error: always open.

// Call before opening any file. Replaces closed standard streams by /dev/null; otherwise the next
// opened file would get their number and receive text for the terminal. Standard input is then at
// its end and notices are lost, but writing results fails, so that their loss is reported. A
// recorded program finds the stream closed, as it would without filereel. Throws Error(failed) if
// /dev/null is missing.
void reserve_standard_streams();

// Runs the command given by the arguments. Returns the exit code: 0 done, 1 failed, 2 usage,
// 3 unusable input, 130 interrupted.
int run_command_line(int argc, const char* const* argv);

// Makes a message one line, of about `longest` bytes. Cuts the middle of a long text: its start
// says what failed, its end what to do.
std::string one_line(std::string text, std::size_t longest);

// Prints the text of an error as one line on standard error.
void complain(const std::string& text);

}  // namespace filereel
