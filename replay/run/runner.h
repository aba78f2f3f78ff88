// Runs a plan: formats, mounts, replays, measures. Independent of the kind of job (job.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "replay/clients/clients.h"
#include "replay/measure/clock.h"
#include "replay/run/observer.h"
#include "replay/run/plan.h"
#include "replay/run/targets.h"
#include "replay/volumes/mount.h"

namespace filereel {

struct RunRequest {
  const Plan& plan;
  NamedTargets targets;                           // no near: temporary volumes of filereel
  std::vector<FileSystemKind> file_systems = {};  // instead of the plan's; each must be available
  std::optional<std::uint32_t> runs = {};         // repetitions, overrides all others
  std::optional<AutoRuns> auto_runs =
      {};                            // repeat until all intervals are narrow enough; not with runs
  std::vector<Target> destroy = {};  // block devices and parts that may be formatted
  bool keep = false;                 // keep the files of the last step
  bool block_baseline = false;       // measure the block baseline with fio first
  bool for_comparison = false;       // say how many runs a verdict needs
  MountCapability power = MountCapability::none;  // the result of enter_mount_namespace
  std::stop_token stop = {};                      // with clients: theirs
  // How often the process was continued after a stop (SIGCONT) so far; null: unknown.
  std::function<std::uint64_t()> continued = {};
  // Other processes that run the same plan, each in a directory of its own; null: none. Volumes
  // must then be directories that all can see.
  Clients* clients = nullptr;
  std::uint64_t began_ns = now_ns();  // clock zero for the start times of samples
};

// Runs the plan's jobs on each file system, one after another, with the requested repetitions.
//
// Fills `result` step by step, so that it holds all measurements in any case. `against` are the
// results of the request's other volumes, one for each; if there are any, all results are labelled
// with their volume unless they have a label. The request's control is one more volume, and fills
// Result::control of all of them. Repetitions take turns, A B C C B A A B C …. While one volume is
// measured, nothing is done on the others. Divergence from a recorded trace is data in the result
// (replay/results/failures.h). Returns true if the whole plan was run, false if the stop was
// requested. Throws Error for everything that the user must fix; the volumes are cleaned up by
// then. With clients, samples are those of all together, complete only at the first client, and the
// failure of one is that of all. Call on the main thread: FUSE drivers end with the thread that
// started them.
bool run_plan(const RunRequest& request, RunObserver& observer, Result& result,
              std::span<Result> against = {});

}  // namespace filereel
