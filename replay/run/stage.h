// Where a run takes place: volumes that were checked and opened, and the jobs on their file
// systems.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/job.h"
#include "replay/run/runner.h"

namespace filereel {

// A volume under test with the one that it copies to, and the result that is filled from them.
struct Side {
  std::vector<Volumes> parts;  // of near, by Job::part; one where near has none
  Result* result = nullptr;
  std::string name;  // on the terminal; empty where there is one side alone
};

// A job on a file system. Nothing: a directory, or no volume at all.
struct StagedJob {
  const Job* job = nullptr;
  std::optional<FileSystemKind> kind;
  double seconds = 0;  // of one repetition, about
};

struct Stage {
  std::vector<std::unique_ptr<Volume>> volumes;
  std::vector<Side> sides;
  std::vector<StagedJob> parts;  // file system by file system
};

// Decides on volumes and file systems, and opens the volumes: all that is wrong with any, and all
// that cannot fit, is refused before any is touched. `results` by side, one or two. What is left
// out is a warning in them. Throws Error.
Stage open_stage(const RunRequest& request, RunObserver& observer,
                 std::span<Result* const> results);

}  // namespace filereel
