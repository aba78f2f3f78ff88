// From what a replay counted to what a result keeps.
#pragma once

#include <optional>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/runner/result.h"
#include "replay/volumes/volume.h"
#include "traces/path_table.h"

namespace filereel {

LatencySummary summarise(const Histogram& latency);

// Times, counts, latencies and divergences. `paths` are those that the trace was replayed with.
void fill_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths);

// What the volumes did, as seen from outside the process.
struct Outside {
  std::optional<DeviceCounters> device;
  double driver_cpu_s = 0;
};
Outside look_outside(const std::vector<Volume*>& volumes);

// Adds to the sample what happened between the two looks.
void add_outside(Sample& sample, const Outside& before, const Outside& after);

}  // namespace filereel
