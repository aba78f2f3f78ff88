// The program that is recorded, where the recorder starts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// A child process that waits until a recorder is ready for it, and then becomes the program. It has
// this process's group, terminal, standard input and output, so that it is what it would be without
// filereel; and it lives on when filereel dies.
class HeldProgram {
 public:
  // `command` is not empty. `prepare` runs in the child before the constructor returns, and may do
  // what signal handlers may. `blocked` is the program's signal mask: this process may block others
  // for itself. Throws Error(failed) if there can be no child.
  explicit HeldProgram(const std::vector<std::string>& command, void (*prepare)() = nullptr,
                       const sigset_t& blocked = {});
  // A program that is still held never begins; one that runs goes on.
  ~HeldProgram();
  HeldProgram(const HeldProgram&) = delete;
  HeldProgram& operator=(const HeldProgram&) = delete;

  pid_t pid() const { return pid_; }

  // Lets it become `command`, looked up in PATH, and returns when it has. Throws Error(failed) if
  // that is no program. To be called once.
  void release();

  // As ChildProcess::wait (filesets/system/process.h).
  std::optional<int> wait(double seconds);

  // Asks it to end: SIGTERM, and SIGCONT so that it does if it was stopped. Nothing if wait() has
  // seen its end.
  void terminate();

 private:
  [[noreturn]] void fail(int error, std::string_view advice) const;

  std::string name_;
  pid_t pid_ = -1;
  // A socket to the child: it reports when it is ready and why it could not go on, a byte lets it
  // go, and the end of this side ends it.
  Descriptor leash_;
  bool held_ = true;
  std::optional<int> status_;
};

// Whether the program that `command` begins with, looked up in PATH, is one for 32 bits; false for
// a script, whose interpreter nobody asks for.
bool is_compat_program(const std::string& command);

}  // namespace filereel
