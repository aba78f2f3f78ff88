// When the operations of a trace are due.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/schedule/schedule.h"
#include "traces/recorded_operation.h"

namespace filereel {

// Makes the pace operations of a schedule. Follows the operations in trace order.
class Pacing {
 public:
  // `recorder_ns` is what the recorder added to each pause of a thread. It is taken off where
  // pauses are kept. Times from the start are not changed by it: they are what the recorded run
  // had, the recorder's cost included, and which operation would have been how much earlier without
  // it depends on what each waited for.
  Pacing(const Pace& pace, std::size_t threads, std::uint32_t recorder_ns = 0)
      : pace_(pace), recorder_ns_(recorder_ns), threads_(threads) {}

  // True if `operation` has a time before which it must not begin; then `pace` says so.
  bool add(const RecordedOperation& operation, Operation& pace);

 private:
  struct Thread {
    std::uint64_t end_ns = 0;  // of its last operation, or of the fork that made it
    bool begun = false, forked = false;
  };

  std::uint64_t scaled(std::uint64_t ns) const;
  bool think(const RecordedOperation& recorded, Operation& pace);

  Pace pace_;
  std::uint64_t recorder_ns_;
  std::vector<Thread> threads_;
};

}  // namespace filereel
