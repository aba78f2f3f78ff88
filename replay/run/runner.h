// Runs a plan: formats, mounts, replays, measures.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replay/engine/io_engine.h"
#include "replay/measure/clock.h"
#include "replay/results/result.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"

namespace filereel {

struct RunRequest {
  Plan plan;
  bool file_systems_required = false;  // the user asked for the plan's file systems by name
  std::optional<Target> near, far;     // neither: two volumes of filereel's own, removed afterwards
  std::optional<Target> against;       // that takes turns with near
  std::optional<Target> against_far;   // that it copies to; nothing: to far as well
  std::vector<std::string> destroy;    // block devices that may be formatted
  bool keep = false;                   // leave the files as the last step left them
  bool block_baseline = false;         // measure what fio reaches on the volumes first
  MountPower power = MountPower::none;  // what enter_mount_namespace returned
  std::stop_token stop = {};
  std::uint64_t began_ns = now_ns();  // on whose clock samples start
};

// A step that is about to be timed.
struct StepInfo {
  std::string file_system, set, operation;
  std::uint32_t run = 1, runs = 1;     // runs 0: that shows in time
  std::uint64_t bytes = 0, files = 0;  // of the set; of a reel none, and its operations
  double done = 0;                     // share of the whole plan's work that lies behind, 0 to 1
  double share = 0;                    // of the whole plan's work that this step is
  double seconds = 0;                  // that it lasts, where time ends it
  std::string volume = {};             // that it works on, where two take turns
};

// Told how a run goes, on the thread that runs it. Implementations: the terminal's progress line,
// what passes on a part of a run to it, and the tests' recorder.
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

// Fills `result` as it goes, so that it holds what was measured whatever happens, and `against`,
// which stands there if and only if the request names such a volume. Each is labelled with its
// volume then, unless it has a label. The repetitions take turns, A B B A A B …, and nothing of one
// volume is done while the other one is measured. Returns true when all of the plan was run, false
// when the stop was requested. Throws Error for all that the user must fix; by then the volumes are
// cleaned up. To be called on the main thread: FUSE drivers live no longer than the thread that
// started them.
bool run_plan(const RunRequest& request, RunObserver& observer, Result& result,
              Result* against = nullptr);

}  // namespace filereel
