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

  // Nanoseconds. Between the calls, the process uses other memory.
  struct Times {
    double other = 0;  // of a call that is not recorded
    double plain = 0;  // of a read of one byte
    double pair = 0;   // of an open and a close
  };
  Times measure();

 private:
  pid_t pid_ = -1;
  Descriptor line_;
};

}  // namespace filereel
