// The command line: `filereel COMMAND …`.
#pragma once

namespace filereel {

// Runs the command given by the arguments. Returns the exit code: 0 done, 1 failed, 2 usage,
// 3 unusable input, 130 interrupted.
int run_command_line(int argc, const char* const* argv);

}  // namespace filereel
