// filereel's overhead per operation, the same figure for every kind of work.
#pragma once

#include <functional>
#include <stop_token>

#include "replay/engine/lane_board.h"
#include "replay/jobs/job.h"
#include "traces/operation_source.h"

namespace filereel {

// A trace that is ready for one replay; with its board if it comes from a schedule.
struct ReadyTrace {
  Trace trace;
  LaneBoard* board = nullptr;
};

// The overhead: nanoseconds of processor time (user and system) of the threads that execute
// operations, divided by the number of operations, with the null engine instead of system calls. It
// includes the work for each operation: taking it from its source, looking up names and open files,
// reading the clock twice, counting. It excludes everything of the trace that takes time by itself
// (due times, pauses and work of a pace, waits), generating content for writes, and other threads
// (which read the trace or show progress). It therefore depends little on the number of threads and
// the kind of work, and measuring it takes much less time than the replay of a slow program.
//
// The part between the two clock readings is included in each latency, the rest only in elapsed
// times: a latency minus this figure is a lower bound for the time in the system.
//
// The result is the median of 3 to 25 replays, after one for warm-up. Each executes the first
// 50,000 operations of the trace (1000 of each thread if there are many threads), or all operations
// of a schedule. `make` is called for each replay and must return the same trace each time; the
// previous one may then be destroyed. Returns 0 if a replay has fewer than 1000 operations, because
// starting the threads would dominate, and if the stop is requested.
double measure_overhead_ns(const std::function<ReadyTrace()>& make,
                           const std::stop_token& stop = {});

// The same for the first step of a job that has enough operations; 0 if there is none. Throws the
// error of a corrupt trace.
double measure_overhead_ns(const FittedJob& fitted, const std::stop_token& stop);

}  // namespace filereel
