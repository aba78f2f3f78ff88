// Reports the progress of a run.
#pragma once

#include <cstdint>
#include <string>

#include "replay/engine/replay_progress.h"
#include "replay/results/result.h"

namespace filereel {

// A step that is about to be timed.
struct StepInfo {
  std::string file_system, set, operation;  // `set`: of FC-Test, otherwise the job and its point
  std::uint32_t run = 1, runs = 1;          // runs 0: not known in advance
  std::uint64_t bytes = 0, files = 0, operations = 0;  // of the step; 0 if unknown
  double expected_s = 0;              // estimated duration of the step; 0 if unknown
  bool expected_is_measured = false;  // in an earlier repetition; otherwise it is assumed
  double left_s = 0;                  // of the run, from the start of the step; 0 if unknown
  double seconds = 0;                 // duration of a time-limited step
  std::string volume = {};            // volume under test, if two take turns
  std::string job = {};     // its name; "" if nothing is replayed, as for a block baseline
  std::string of_set = {};  // the file set's name, of FC-Test
  Parameters point = {};    // of the job's sweep
  bool measured = true;     // otherwise it only prepares
};

// Receives the events of a run, on the run's thread. Implementations: the terminal's progress line
// and the tests' recorder.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void notice(const std::string& text) = 0;
  // Other threads update `progress`; it lives until step_ended.
  virtual void step_begins(const StepInfo& step, const ReplayProgress& progress) = 0;
  // Also called if the step failed.
  virtual void step_ended() = 0;
  // Called after every sample, with the result so far.
  virtual void result_grew(const Result& result) = 0;
};

// Notifies the observer of a step's start and, in any case, of its end.
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
