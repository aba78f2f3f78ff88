// Other programs: mkfs, fsck, FUSE drivers, strace.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// The path of a program in PATH or in the system's sbin folders, which users often lack in PATH.
std::optional<std::string> find_program(std::string_view name);

// From now on a write to a closed pipe or beyond the limit of file sizes (ulimit -f) fails with an
// error and does not end the process. A program that it starts has SIGPIPE and SIGXFSZ as its
// caller had them: exec() takes handlers back, and a signal that is ignored already stays ignored.
void survive_failed_writes();

// Waits up to `seconds` for the end of a child: its exit status (128 + signal if it was killed), or
// nothing if it still runs. 127 if there is no such child. It can be asked for once.
std::optional<int> wait_for(pid_t child, double seconds);

// A child process in a process group of its own, so that Ctrl-C at the terminal does not reach it.
// It gets SIGTERM when the thread that started it dies, even by SIGKILL. Destroying the object ends
// it.
class ChildProcess {
 public:
  // `command[0]` is looked up by find_program. Throws Error(failed) when it is not there or cannot
  // be started; `package` is what to install then.
  ChildProcess(const std::vector<std::string>& command, std::string_view package);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Waits up to `seconds` for its end; the exit status (128 + signal if it was killed), or nothing
  // if it still runs. May be called again after the end.
  std::optional<int> wait(double seconds);

  // SIGTERM, then SIGKILL after `seconds`. Returns its exit status.
  int terminate(double seconds);

  pid_t pid() const { return pid_; }

  // What it has printed so far, both streams, at most 64 KiB.
  std::string output() const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  Descriptor output_;
};

// Runs a program to its end; throws Error(failed) with its last line of output unless it exits with
// 0. `what` begins the error's text: "cannot make ext4 on a.img".
void run_program(const std::vector<std::string>& command, std::string_view package,
                 std::string_view what);

}  // namespace filereel
