// strace, following processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/process.h"

namespace filereel {

// To be called in a process that is to be recorded, before it is: lets any other of this user trace
// it, where Linux would else allow that to its ancestors alone. Does what signal handlers may.
void allow_tracing();

class StraceProcess {
 public:
  // Returns when every call of the processes from now on, of their threads and of their children to
  // come is followed. Throws Error(failed) if there is no strace, or it may not follow the first.
  explicit StraceProcess(const std::vector<std::uint32_t>& processes);

  // The read end of the pipe that it writes to. To be taken once, and read: it waits while the pipe
  // is full, and with it the processes.
  Descriptor take_output() { return std::move(output_); }

  pid_t pid() const { return child_->pid(); }

  // Lets the processes go on untraced, and ends.
  void detach() const;

  // As ChildProcess::wait.
  std::optional<int> wait(double seconds) { return child_->wait(seconds); }

 private:
  void wait_until_attached(const std::vector<std::uint32_t>& processes);

  Descriptor output_;  // goes before the child, which may wait for somebody to read
  std::optional<ChildProcess> child_;
};

}  // namespace filereel
