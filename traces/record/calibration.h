// Measures how much recording adds to a system call.
#pragma once

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// A child process that makes calls and times them.
class Calibration {
 public:
  // Starts the process, which then waits. If it cannot be started, all figures are 0.
  Calibration();
  ~Calibration();
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  pid_t pid() const { return pid_; }

  // Nanoseconds per read of one byte: the best of several rounds.
  double nanoseconds_per_call();

 private:
  pid_t pid_ = -1;
  Descriptor line_;
};

}  // namespace filereel
