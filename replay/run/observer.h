// How a run tells what it does.
#pragma once

#include <cstdint>
#include <string>

#include "replay/engine/io_engine.h"
#include "replay/results/result.h"

namespace filereel {

// A step that is about to be timed.
struct StepInfo {
  std::string file_system, set, operation;  // `set`: of FC-Test, else the job and its point
  std::uint32_t run = 1, runs = 1;          // runs 0: that shows in time
  std::uint64_t bytes = 0, files = 0;       // of the step, as far as that is known
  double done = 0;          // share of the whole run's work that lies behind, 0 to 1
  double share = 0;         // of the whole run's work that this step is
  double seconds = 0;       // that it lasts, where time ends it
  std::string volume = {};  // that it works on, where two take turns
  std::string job = {};     // its name; "" where nothing is replayed, as for a block baseline
  std::string of_set = {};  // the file set's name, of FC-Test
  Parameters point = {};    // of the job's sweep
  bool measured = true;     // else it only prepares
};

// Told how a run goes, on the thread that runs it. Implementations: the terminal's progress line
// and the tests' recorder.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void notice(const std::string& text) = 0;
  // `progress` is added to by other threads and lives until step_ended.
  virtual void step_begins(const StepInfo& step, const ReplayProgress& progress) = 0;
  // Also when the step failed.
  virtual void step_ended() = 0;
  // After every sample: what there is so far.
  virtual void result_grew(const Result& result) = 0;
};

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
