// Runs a workload: at every point of its sweep, on every file system, as often as asked.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replay/measure/clock.h"
#include "replay/results/result.h"
#include "replay/run/runner.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "traces/workload/workload.h"

namespace filereel {

struct WorkloadRunRequest {
  const Workload& workload;
  std::optional<Target> near;          // nothing: a volume of filereel's own, removed afterwards
  std::optional<Target> against = {};  // that takes turns with near
  // Instead of the workload's; those that cannot be made are an error then.
  std::vector<FileSystemKind> file_systems = {};
  std::uint32_t runs = 3;
  std::optional<AutoRuns> auto_runs = {};
  std::optional<std::uint64_t> time_ns = {};  // instead of the times that end phases
  double scale = 1;
  std::vector<std::string> destroy = {};  // block devices that may be formatted
  bool warm = false;
  bool keep = false;            // leave the files as the last phase left them
  bool block_baseline = false;  // measure what fio reaches on the volumes first
  MountPower power = MountPower::none;
  std::stop_token stop = {};
  std::uint64_t began_ns = now_ns();  // on whose clock samples start
};

// Fills `result` as it goes, so that it holds what was measured whatever happens. Returns true when
// all was run, false when the stop was requested. Throws Error for all that the user must fix; by
// then the volume is cleaned up. `against`: see run_plan; the volumes take turns at every point. To
// be called on the main thread, as run_plan.
bool run_workload(const WorkloadRunRequest& request, RunObserver& observer, Result& result,
                  Result* against = nullptr);

}  // namespace filereel
