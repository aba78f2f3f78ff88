// Computes the due times of operations.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/schedule/schedule.h"
#include "traces/recorded_operation.h"

namespace filereel {

// Creates the pace operations of a schedule. Processes the operations in trace order.
class Pacing {
 public:
  // `recorder_ns` is the time that the recorder added to each pause of a thread. It is subtracted
  // from kept pauses. Times from the start are not corrected: they are those of the recorded run,
  // including the recorder's overhead. How much earlier an operation would have started without it
  // depends on what each operation waited for.
  Pacing(const Pace& pace, std::size_t threads, std::uint32_t recorder_ns = 0)
      : pace_(pace), recorder_ns_(recorder_ns), threads_(threads) {}

  // Returns true if `operation` has a due time, and sets `pace` to it.
  bool add(const RecordedOperation& operation, Operation& pace);

 private:
  struct Thread {
    std::uint64_t end_ns = 0;  // of its last operation, or of the fork that created it
    bool begun = false, forked = false;
  };

  std::uint64_t scaled(std::uint64_t ns) const;
  bool think(const RecordedOperation& recorded, Operation& pace);

  Pace pace_;
  std::uint64_t recorder_ns_;
  std::vector<Thread> threads_;
};

}  // namespace filereel
