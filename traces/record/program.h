// The recorded program, if the recorder starts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// A child process that waits until a recorder is ready and then executes the program. It keeps this
// process's group, terminal, standard input and output, as if started without filereel. It survives
// filereel.
class HeldProgram {
 public:
  // `command` is not empty. `prepare` runs in the child before the constructor returns and may do
  // what signal handlers may. `blocked` is the program's signal mask, because this process may
  // block other signals for itself. Throws Error(failed) if the child cannot be created.
  explicit HeldProgram(const std::vector<std::string>& command, void (*prepare)() = nullptr,
                       const sigset_t& blocked = {});
  // A held program never starts; a running one continues.
  ~HeldProgram();
  HeldProgram(const HeldProgram&) = delete;
  HeldProgram& operator=(const HeldProgram&) = delete;

  pid_t pid() const { return pid_; }

  // Makes the child execute `command`, looked up in PATH, and returns when it has. Throws
  // Error(failed) if that fails. Call it once.
  void release();

  // As ChildProcess::wait (filesets/system/programs.h).
  std::optional<int> wait(double seconds);

  // Asks the program to end: SIGTERM, and SIGCONT in case it is stopped. No effect if wait() has
  // seen its end.
  void terminate();

 private:
  [[noreturn]] void fail(int error, std::string_view advice) const;

  std::string name_;
  pid_t pid_ = -1;
  // A socket to the child. The child reports when it is ready and why it failed; a byte releases
  // it; closing this side ends it.
  Descriptor control_socket_;
  bool held_ = true;
  std::optional<int> status_;
};

// Whether the program at the start of `command`, looked up in PATH, is a 32-bit program. False for
// a script; its interpreter is not checked.
bool is_compat_program(const std::string& command);

}  // namespace filereel
