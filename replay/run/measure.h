// Measures one step of a job on prepared volumes. All timing happens here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/jobs/job.h"
#include "replay/results/result.h"

namespace filereel {

struct MeasureOptions {
  bool warm = false;
  Verification verify = Verification::results;
  bool may_diverge = false;        // divergences are data; otherwise they fail the step
  std::uint64_t run_began_ns = 0;  // see begin_sample
  std::stop_token stop = {};
  ReplayProgress* progress = nullptr;
  std::function<std::uint64_t()> continued = {};  // see RunRequest
  // With other clients: waits for all of them when its caches are set.
  std::function<void()> meet = {};
  // See ReplayOptions.
  std::function<void(const std::function<void()>& begin)> gate = {};
  // The files are those of all clients: waits again at the end, before they are verified.
  bool meet_at_end = false;
};

struct StepSamples {
  Sample all;
  // For a step whose volumes are measured separately (Step::apart), one sample each, in their
  // order; empty for a failed step.
  std::vector<Sample> by_volume;
  // From the return of the gate (MeasureOptions) to the first operation, seconds; without warm-up.
  double begin_s = 0;
};

// Prepares the caches as the step requires, replays and times the step, waits until all data is
// durable, and verifies. The caller sets `run` of the samples. A failed operation is recorded in
// the sample of all. Returns nothing if the stop was requested. Throws Error(failed) if a volume
// fails or vanishes, and the error of a corrupt trace.
std::optional<StepSamples> measure_step(const FittedJob& job, std::size_t step,
                                        const Volumes& volumes, const MeasureOptions& options);

}  // namespace filereel
