// One timed phase of a workload.
#pragma once

#include <cstdint>
#include <stop_token>

#include "filesets/file_set.h"
#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "replay/volumes/volume.h"
#include "traces/path_table.h"
#include "traces/workload/recipe.h"
#include "traces/workload/synthesis.h"

namespace filereel {

// A recipe on a volume that holds its files. All that it refers to outlives it.
struct PreparedRecipe {
  const Recipe& recipe;
  const Synthesis& synthesis;
  const PathTable& paths;  // as the volume can hold them
  const FileSet& initial;  // the same
  const FileSet& largest;
  Volume& volume;
};

struct PhaseOptions {
  bool warm = false;               // leave the caches as they are, whatever the phase says
  bool poll = false;               // where the phase says so: the volume can
  std::uint64_t run_began_ns = 0;  // see begin_sample
  std::stop_token stop = {};
  ReplayProgress* progress = nullptr;
};

struct PhaseOutcome {
  Sample sample;          // `run` is left to the caller
  bool complete = false;  // every operation was executed, and none failed
};

// Makes the caches cold, replays the phase with the stopwatch, waits until all is durable. Failed
// operations are in the sample; throws Error(failed) when the volume fails or vanishes.
PhaseOutcome measure_phase(const PreparedRecipe& prepared, std::size_t phase,
                           const PhaseOptions& options);

// What the phase will take, about; only the progress display depends on it.
double expected_seconds(const Recipe& recipe, const Synthesis& synthesis, std::size_t phase);

}  // namespace filereel
