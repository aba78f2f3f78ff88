// From what a replay counted to what a result keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "replay/run/conditions.h"
#include "replay/volumes/volume.h"
#include "traces/path_table.h"

namespace filereel {

// Times, counts, latencies and divergences. `paths` are those that the trace was replayed with.
void fill_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths);

// What only replays of recorded traces have; after fill_sample.
void add_trace_figures(Sample& sample, const ReplayOutcome& outcome);

// The last thing before a sample's clock starts: what the machine does at rest, and when this is on
// the clock of the run, which began at `run_began_ns` (now_ns).
void begin_sample(Sample& sample, const std::vector<Volume*>& volumes, std::uint64_t run_began_ns);

// Waits until all that a replay wrote is on the volumes, which flush at the same time, and notes in
// the sample when it was. To be called at once after the replay: its clock still runs. Returns the
// seconds that each took. Throws Error(failed) when a volume fails or has vanished.
std::vector<double> wait_until_durable(Sample& sample, const ReplayOutcome& outcome,
                                       const std::vector<Volume*>& volumes);

// What the volumes and the processors did, as seen from outside the process.
struct Outside {
  std::optional<DeviceCounters> device;
  double driver_cpu_s = 0;
  ProcessorLook processors;
};
Outside look_outside(const std::vector<Volume*>& volumes);

// Adds to the sample what the volumes did between the two looks, and how full the first is now.
void add_volume_work(Sample& sample, const Outside& before, const Outside& after,
                     const std::vector<Volume*>& volumes);

// The same, and what the processors did.
void add_outside(Sample& sample, const Outside& before, const Outside& after,
                 const std::vector<Volume*>& volumes);

}  // namespace filereel
