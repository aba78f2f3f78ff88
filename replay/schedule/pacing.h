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
  Pacing(const Pace& pace, std::size_t threads) : pace_(pace), threads_(threads) {}

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
  std::vector<Thread> threads_;
};

}  // namespace filereel
