// How long recording makes a system call.
#pragma once

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// A process of its own that makes calls and times them.
class Calibration {
 public:
  // Starts the process, which then waits. Without one, all figures are 0.
  Calibration();
  ~Calibration();
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  pid_t pid() const { return pid_; }

  // Nanoseconds that a read of one byte takes now: the best of several rounds.
  double nanoseconds_per_call();

 private:
  pid_t pid_ = -1;
  Descriptor line_;
};

}  // namespace filereel
