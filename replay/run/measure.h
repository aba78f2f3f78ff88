// Measures one step of a job on prepared volumes. The one place where a stopwatch runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "replay/run/job.h"

namespace filereel {

struct MeasureOptions {
  bool warm = false;
  Verification verify = Verification::results;
  bool may_diverge = false;        // what differs is data; else it fails the step
  std::uint64_t run_began_ns = 0;  // see begin_sample
  std::stop_token stop = {};
  ReplayProgress* progress = nullptr;
};

struct StepSamples {
  Sample all;
  // Of a step whose volumes are measured apart (Step::apart) one of each, in their order; of a step
  // that failed none.
  std::vector<Sample> by_volume;
};

// Makes the caches as the step asks for, replays the step with the stopwatch, waits until all is
// durable, verifies. `run` of the samples is left to the caller. A failed operation is in the sample
// of all. Nothing when the stop was requested. Throws Error(failed) when a volume fails or vanishes,
// and what ends a damaged trace.
std::optional<StepSamples> measure_step(const FittedJob& job, std::size_t step,
                                        const Volumes& volumes, const MeasureOptions& options);

}  // namespace filereel
