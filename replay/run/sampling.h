// Turns the statistics of a replay into a sample of a result.
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

// Sets times, counts, latencies and divergences. `paths`: the path table of the replay.
void fill_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths);

// Call last before a sample's clock starts. Records the machine at rest, and the start time
// relative to `run_began_ns` (now_ns).
void begin_sample(Sample& sample, const std::vector<Volume*>& volumes, std::uint64_t run_began_ns);

// Flushes all volumes concurrently, waits until all data of the replay is durable, and records the
// time in the sample. Call immediately after the replay: its clock still runs. Returns the seconds
// for each volume. Throws Error(failed) if a volume fails or has vanished.
std::vector<double> wait_until_durable(Sample& sample, const ReplayOutcome& outcome,
                                       const std::vector<Volume*>& volumes);

// Counters of the volumes and the processors, observed from outside the process.
struct SystemCounters {
  std::optional<DeviceCounters> device;
  double driver_cpu_s = 0;
  ProcessorTimes processors;
};
SystemCounters read_system_counters(const std::vector<Volume*>& volumes);

// Adds to the sample the I/O of the volumes between the two looks, and the used share of the first
// volume.
void add_volume_work(Sample& sample, const SystemCounters& before, const SystemCounters& after,
                     const std::vector<Volume*>& volumes);

// The same, and the processor shares.
void add_system_counters(Sample& sample, const SystemCounters& before, const SystemCounters& after,
                         const std::vector<Volume*>& volumes);

}  // namespace filereel
