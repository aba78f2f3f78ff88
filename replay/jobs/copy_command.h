// Programs that copy a tree instead of filereel's own methods (--copy-command), and the shell
// commands that run them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "replay/engine/replayer.h"

namespace filereel {

// --- A command of the shell that is timed: how it ends, and that nothing of it remains.

struct ProgramEnd {
  std::uint64_t at_ns = 0;                  // stopwatch time
  int status = 0;                           // exit status
  int signal = 0;                           // that killed it; 0: none
  std::string complaint;                    // the first line that it printed to standard error
  double cpu_user_s = 0, cpu_system_s = 0;  // of all its processes
};

// `sh -c TEXT` in a process group of its own, so that Ctrl-C at the terminal does not reach it. It
// reads /dev/null, and its standard output is discarded. The destructor ends the whole group, also
// what the command left in the background.
class ShellProgram {
 public:
  // It may use this number of the processors of the calling thread. Throws Error(failed) if it
  // cannot be started.
  ShellProgram(const std::string& text, std::uint32_t processors);
  ShellProgram(const ShellProgram&) = delete;
  ShellProgram& operator=(const ShellProgram&) = delete;
  ~ShellProgram();

  // Waits for its end. Nothing if the stop was requested before. Call it once.
  std::optional<ProgramEnd> wait(const std::stop_token& stop);

 private:
  bool ended(int timeout_ms);
  void read_complaints();

  pid_t pid_ = -1;  // of the shell and of its group
  Descriptor handle_, complaints_;
  std::string text_;  // the beginning of its complaints
};

// --- Programs that copy a tree instead of filereel's own methods, in the copy steps of FC-Test
// (--copy-command).
//
// A copy command is a command of the shell, such as "rsync -aW {from}/ {to}". filereel puts the
// quoted paths of the two directories and the number of threads in place of {from}, {to} and
// {threads}. The directory `to` exists and is empty; what the program creates in it belongs to the
// run. Its processes are one group, which ends with the step.

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
