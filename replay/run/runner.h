// Runs a plan: formats, mounts, replays, measures. The same for every kind of job (job.h).
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replay/measure/clock.h"
#include "replay/run/observer.h"
#include "replay/run/plan.h"
#include "replay/run/targets.h"
#include "replay/volumes/mount.h"

namespace filereel {

struct RunRequest {
  const Plan& plan;
  NamedTargets targets;  // no near: volumes of filereel's own, removed afterwards
  std::vector<FileSystemKind> file_systems = {};  // instead of the plan's; each must be there
  std::optional<std::uint32_t> runs = {};         // repetitions, instead of all that others say
  std::optional<AutoRuns> auto_runs = {};         // that go on until all is precise; not with runs
  std::vector<Target> destroy = {};               // block devices and parts: may be formatted
  bool keep = false;                              // leave the files as the last step left them
  bool block_baseline = false;                    // measure what fio reaches on the volumes first
  MountPower power = MountPower::none;            // what enter_mount_namespace returned
  std::stop_token stop = {};
  std::uint64_t began_ns = now_ns();  // on whose clock samples start
};

// Runs the plan's jobs on each file system, one after the other, as often as asked.
//
// Fills `result` as it goes, so that it holds what was measured whatever happens, and `against`,
// which stands there if and only if the request names such a volume. Each is labelled with its
// volume then, unless it has a label. The repetitions take turns, A B B A A B …, and nothing of one
// volume is done while the other one is measured. What differs from a recorded trace is data in the
// result (replay/results/failures.h). Returns true when all of the plan was run, false when the
// stop was requested. Throws Error for all that the user must fix; by then the volumes are cleaned
// up. To be called on the main thread: FUSE drivers live no longer than the thread that started
// them.
bool run_plan(const RunRequest& request, RunObserver& observer, Result& result,
              Result* against = nullptr);

}  // namespace filereel
