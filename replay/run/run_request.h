// What a run is to do: a plan on targets, and how.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replay/clients/clients.h"
#include "replay/measure/clock.h"
#include "replay/plan/plan.h"
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
  // The results of the interrupted run that this one continues, by side: near, those of against,
  // the control. Empty: a new run.
  std::vector<const Result*> begun = {};
  bool for_comparison = false;                    // say how many runs a verdict needs
  MountCapability power = MountCapability::none;  // the result of enter_mount_namespace
  std::stop_token stop = {};                      // with clients: theirs
  // How often the process was continued after a stop (SIGCONT) so far; null: unknown.
  std::function<std::uint64_t()> continued = {};
  // Other processes that run the same plan, each in a directory of its own; null: none. Volumes
  // must then be directories that all can see.
  Clients* clients = nullptr;
  std::uint64_t began_ns = now_ns();  // clock zero for the start times of samples
};

}  // namespace filereel
