// A command of the shell that is timed: how it ends, and that nothing of it remains.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

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

}  // namespace filereel
