// What a script decides for one operation. All of it is a function of the script, the operation's
// kind and number (and, for stalls by time, of when its service begins): neither threads nor the
// order in which operations of different kinds come make a difference.
#pragma once

#include <cstdint>

#include "tests/model_drive/script.h"

namespace filereel::model_drive {

// Sets of stall rules: bit i for script.stalls[i].
using StallSet = std::uint64_t;

struct Decision {
  std::uint64_t latency_ns = 0;  // drawn from the distribution
  std::uint64_t stall_ns = 0;    // the sum of the stalls by share and by count
  StallSet stalls = 0;           // which these are
};

// For the `number`th operation of its kind; the first is 1.
Decision decide(const Script& script, Kind kind, std::uint64_t number, std::uint64_t length);

struct Window {
  std::uint64_t end_ns = 0;  // not before the time in question
  StallSet stalls = 0;       // empty: no stall by time includes it
};

// What an operation waits for whose service begins `time_ns` after the script came into force: the
// latest end of the windows that include this time, `time_ns` if none does.
Window window_at(const Script& script, Kind kind, std::uint64_t time_ns);

}  // namespace filereel::model_drive
