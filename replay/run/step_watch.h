// The frame of a measured step.
#pragma once

#include "replay/run/runner.h"

namespace filereel {

// Tells the observer of a step's beginning and, however it goes, of its end.
class StepWatch {
 public:
  StepWatch(RunObserver& observer, const StepInfo& step, const ReplayProgress& progress)
      : observer_(observer) {
    observer_.step_begins(step, progress);
  }
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;
  ~StepWatch() { observer_.step_ended(); }

 private:
  RunObserver& observer_;
};

}  // namespace filereel
