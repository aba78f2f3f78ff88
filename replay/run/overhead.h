// filereel's own cost per operation, the same figure for every kind of work.
#pragma once

#include <functional>
#include <stop_token>

#include "replay/engine/lane_board.h"
#include "replay/run/job.h"
#include "traces/operation_source.h"

namespace filereel {

// A trace that is ready to be replayed once; of a schedule, with its board.
struct ReadyTrace {
  Trace trace;
  LaneBoard* board = nullptr;
};

// filereel's own cost: nanoseconds of processor time (user and system) of the threads that execute
// operations, divided by the number of operations, with the null engine in the place of system
// calls. It holds what is done for each operation: taking it from its source, looking up names and
// open files, reading the clock twice, counting. It holds no waiting, no pauses of a pace, no
// making of content for writes, and no other threads (which read the trace or show progress). So it
// hardly depends on the number of threads or on the kind of work.
//
// What is done between the two readings of the clock is in each latency, the rest is in elapsed
// times only: a latency less this figure is a lower bound of what the system took.
//
// The median of 3 to 25 replays, after one to warm up. Each executes the trace's first 50,000
// operations (1000 of each thread where there are many threads); of a schedule all. `make` is
// called for each replay and gives the same trace anew; what it made before may end then. Returns 0
// where a replay has fewer than 1000 operations, because starting the threads would be much of what
// is measured, and when the stop is requested.
double measure_overhead_ns(const std::function<ReadyTrace()>& make,
                           const std::stop_token& stop = {});

// The same of the first step of a job that has operations enough; 0 if there is none. Throws what
// ends a damaged trace.
double measure_overhead_ns(const FittedJob& fitted, const std::stop_token& stop);

}  // namespace filereel
