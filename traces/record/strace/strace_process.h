// Runs strace to follow processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/programs.h"

namespace filereel {

// Called in a process to be recorded, beforehand: lets any process of this user trace it; Linux may
// otherwise permit that only to ancestors. Async-signal-safe.
void allow_tracing();

class StraceProcess {
 public:
  // Returns when all further calls of the processes, their threads and their future children are
  // followed. Throws Error(failed) if strace is missing or may not follow the first process.
  explicit StraceProcess(const std::vector<std::uint32_t>& processes);

  // The read end of strace's output pipe. Take it once and read it: a full pipe blocks strace and
  // the processes.
  Descriptor take_output() { return std::move(output_); }

  pid_t pid() const { return child_->pid(); }

  // Releases the processes and ends strace.
  void detach() const;

  // As ChildProcess::wait.
  std::optional<int> wait(double seconds) { return child_->wait(seconds); }

 private:
  void wait_until_attached(const std::vector<std::uint32_t>& processes);

  Descriptor output_;  // destroyed after the child: a signal ends strace even if the pipe is full
  std::optional<ChildProcess> child_;
};

}  // namespace filereel
