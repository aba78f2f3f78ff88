// Computes the due times of operations.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/schedule/schedule.h"
#include "traces/recorded_trace.h"

namespace filereel {

// Creates the pace operations of a schedule. Processes the operations in trace order.
//
// At pace think, the time of a thread outside of what the replay repeats is its work. If the trace
// has the waits of threads (TraceInfo::waits), work is processor time, and waits are operations.
// Otherwise it is unknown what a thread did, and work becomes a pause. The work before an operation
// includes the duration of earlier ones that a replay does not repeat (is_timed). Work that is too
// short for a pace operation is added to that of the next operation.
class Pacing {
 public:
  // Uses the trace's threads, `waits` and `recorder_ns`: the time that the recorder added to the
  // work before each operation, which is subtracted. Times from the start are not corrected: they
  // are those of the recorded run, including the recorder's overhead. How much earlier an operation
  // would have started without it depends on what each operation waited for.
  Pacing(const Pace& pace, const TraceInfo& info)
      : pace_(pace),
        waits_(info.waits),
        recorder_ns_(info.recorder_ns),
        threads_(info.threads.size()) {}

  // Returns true if `operation` has a due time, and sets `pace` to it. Scales the length of waits.
  bool add(RecordedOperation& operation, Operation& pace);

 private:
  struct Thread {
    std::uint64_t until_ns = 0;  // its time is accounted for until then
    std::int64_t work_ns = 0;    // since its last pace operation
    bool begun = false, forked = false;
  };

  std::uint64_t scaled(std::uint64_t ns) const;
  bool think(const RecordedOperation& recorded, Operation& pace);

  Pace pace_;
  bool waits_;
  std::uint64_t recorder_ns_;
  std::vector<Thread> threads_;
};

}  // namespace filereel
