// Replays a trace on volumes with a stopwatch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "replay/engine/io_engine.h"
#include "replay/engine/statistics.h"
#include "traces/operation_source.h"

namespace filereel {

struct ReplayOptions {
  EngineKind engine = EngineKind::blocking;
  std::uint32_t queue_depth = 0;  // see EngineContext; Trace::depths is preferred
  bool poll = false;              // see EngineContext
  Verify verify = Verify::results;
  bool change_owners = false;
  bool stop_on_divergence = true;
  LaneBoard* board = nullptr;          // of the schedule that the trace comes from, if it does
  DivergenceJudge* judge = nullptr;    // see EngineContext
  std::stop_token stop = {};           // stops between two operations
  ReplayProgress* progress = nullptr;  // sees what is counted while the replay runs
  ProgressUnits units = {};            // of the progress
  // Before the measured time: what ends in it is not counted, but for divergences.
  std::uint64_t warm_up_ns = 0;
  // The measured time, from the end of the warm-up; 0: until the sources end. When it has passed
  // each thread ends the operation that it is at, and what it has in flight; then its source winds
  // up, and what that gives still (closing syncs, closes) is executed and counted. The lanes of a
  // schedule just end.
  std::uint64_t run_for_ns = 0;
  // Filled with every latency by thread, in ns; for tests.
  std::vector<std::vector<std::uint64_t>>* latencies = nullptr;
  // Called once, when the measured time begins, by the thread that called replay(): for counters of
  // the caller's.
  std::function<void()> on_measured_start = {};
};

// What the threads of a replay did, all of them or those of one volume.
struct ReplayOutcome {
  ReplayStatistics statistics;
  double elapsed_s = 0;  // from the first thread's first operation, or from the end of the warm-up,
                         // to the end of the last thread's last one
  std::uint64_t end_ns = 0;  // of the stopwatch, when that ended; what was open is closed after it
  double cpu_user_s = 0;     // of this process meanwhile
  double cpu_system_s = 0;
  // Processor time of the threads that execute, from their first operation to their last, that of
  // the warm-up included.
  double threads_cpu_s = 0;
  bool complete = false;  // every operation was executed, or all that the time allowed
  // By Role, where there are Trace::volumes: the same of the threads on each volume, but for the
  // processor time of the process. Of volumes without threads nothing but zeros.
  std::vector<ReplayOutcome> by_volume;
};

// Executes the trace's threads at once, each on a thread of its own. `roots` are descriptors of the
// volumes' root directories, by Role; -1 for a volume that the trace does not use. What goes wrong
// with an operation is a divergence in the outcome. Consumes the trace.
ReplayOutcome replay(Trace trace, const std::array<int, kRoles>& roots,
                     const ReplayOptions& options);

}  // namespace filereel
