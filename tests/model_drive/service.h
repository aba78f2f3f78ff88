// The drive's queue: which operation it is, which slot it gets, and when it is done. Knows no
// clock: times are given, in nanoseconds of one that never goes back.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/model_drive/decisions.h"
#include "tests/model_drive/medium.h"
#include "tests/model_drive/script.h"

namespace filereel::model_drive {

struct Service {
  Kind kind = Kind::read;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // of a flush: what was written or discarded since the one before
  std::uint64_t number = 0;  // of its kind since the script came into force; 0: an empty flush
  std::uint64_t arrival_ns = 0;
  std::uint64_t service_ns = 0;  // from the begin in a slot to the end, with waits for the medium
  std::uint64_t due_ns = 0;
  StallSet stalls = 0;
};

// Each operation takes the slot that is free first, in the order of arrival, and keeps it until it
// is done. There it waits for the end of stalls by time, for its latency, for its transfer, which
// may begin later (medium.h), and for its other stalls, in this order. A flush with nothing to
// flush takes no slot and no time, and is not counted. For one thread at a time.
class ServiceQueue {
 public:
  ServiceQueue(Script script, std::uint64_t now_ns);

  Service admit(Kind kind, std::uint64_t offset, std::uint64_t length, std::uint64_t now_ns);

  // Puts another script into force: operations are counted anew, and the times of stalls count from
  // now. What was admitted keeps its time and its slot, and the medium its state. Throws
  // Error(unusable_input), `where` in front, if the size differs: a drive does not grow.
  void replace(Script script, std::uint64_t now_ns, std::string_view where);

  std::uint64_t size() const { return script_.size; }
  // As it is then, which is not before the last request.
  const Medium& medium_at(std::uint64_t now_ns);

 private:
  Script script_;
  Medium medium_;
  std::uint64_t begin_ns_;              // when it came into force
  std::vector<std::uint64_t> free_ns_;  // when each slot is free: a heap with the first in front
  std::array<std::uint64_t, kKindNames.size()> counts_{};
  std::uint64_t unflushed_ = 0;  // bytes
};

}  // namespace filereel::model_drive
