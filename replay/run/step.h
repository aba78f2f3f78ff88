// One timed step of FC-Test on two volumes.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "replay/volumes/volume.h"
#include "traces/fc_test.h"

namespace filereel {

struct StepOptions {
  bool warm = false;
  CopyMethod copy_method = CopyMethod::readwrite;
  std::uint64_t run_began_ns = 0;  // see begin_sample
  std::stop_token stop = {};
  ReplayProgress* progress = nullptr;
};

struct StepOutcome {
  Sample sample;          // `run` is left to the caller
  bool complete = false;  // every operation was executed
};

// By Role; nullptr for a volume that the test does without.
using Volumes = std::array<Volume*, kRoles>;

// The volumes that a step works on.
std::vector<Volume*> volumes_of(FcStep step, const Volumes& volumes);

// Makes the caches cold, replays the step with the stopwatch, waits until all is durable. Failed
// operations are in the sample; throws Error(failed) when a volume fails or vanishes.
StepOutcome measure_step(const FcTest& test, const FileSet& set, FcStep step,
                         const Volumes& volumes, const StepOptions& options);

}  // namespace filereel
