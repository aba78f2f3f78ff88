// Programs that copy a tree instead of filereel's own methods, in the copy steps of FC-Test
// (--copy-command).
//
// A copy command is a command of the shell, such as "rsync -aW {from}/ {to}". filereel puts the
// quoted paths of the two directories and the number of threads in place of {from}, {to} and
// {threads}. The directory `to` exists and is empty; what the program creates in it belongs to the
// run. Its processes are one group, which ends with the step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "replay/engine/replayer.h"

namespace filereel {

// A command on two directories below the roots of volumes.
struct CopyProgram {
  std::string command;
  std::string_view from, to;  // names below the roots
  Role to_role = Role::near;  // `from` is on near
  std::uint32_t threads = 1;  // the number of processors that it may use
};

// Throws Error(usage) unless the command has both directories.
void check_copy_command(std::string_view command);

// The first program of the command that is not installed, as far as that can be seen from its
// words; "" if there is none.
std::string missing_program(std::string_view command);

// The text for the shell.
std::string shell_text(const CopyProgram& program, std::string_view from, std::string_view to);

// Runs the program. `roots`: as of replay(). Of the options, uses gate, on_measured_start and stop.
// The outcome has times, and no operations; it is incomplete if the stop was requested. Throws
// Error(failed) if the program fails; `what` starts the text.
ReplayOutcome run_copy_program(const CopyProgram& program, const std::array<int, kRoles>& roots,
                               const ReplayOptions& options, std::string_view what);

}  // namespace filereel
