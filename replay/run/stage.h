// Prepares a run: checks and opens the volumes, and assigns the jobs to their file systems.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/jobs/job.h"
#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/run/run_request.h"

namespace filereel {

// One of the sides that take turns: a volume under test with its far volumes, and the result that
// they fill.
struct Side {
  std::vector<Volumes> by_part;  // of near, by Job::part; one if near has no parts
  Result* result = nullptr;
  std::string name;  // on the terminal; empty with a single side
};

// A job on a file system. No kind: a directory, or no volume.
struct StagedJob {
  const Job* job = nullptr;
  std::optional<FileSystemKind> kind;
  ExpectedTime time = {};  // of one repetition: its steps
  double fill_s = 0;       // of the creation of the initial files, assumed
};

struct Stage {
  std::vector<std::unique_ptr<Volume>> volumes;
  std::vector<Side> sides;
  std::vector<StagedJob> jobs;  // file system by file system

  // Begins the use of all volumes. What exists comes first: if an image cannot be created after
  // all, nothing was formatted. Throws Error.
  void take() const;
};

// Chooses volumes and file systems, and opens the volumes. Refuses all faults of any volume, and
// everything that no job can do there, before any volume is touched: targets are compared with each
// other, jobs check the limits of the file systems, volumes are opened (which changes nothing), and
// their space is checked. Stage::take then begins their use. `results`: by side. What is skipped is
// a warning in them. Throws Error.
Stage open_stage(const RunRequest& request, RunObserver& observer,
                 std::span<Result* const> results);

}  // namespace filereel
