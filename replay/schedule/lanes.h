// Which lane replays which thread of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/trace_info.h"

namespace filereel {

struct Lanes {
  std::vector<std::uint32_t> of_thread;
  std::size_t count = 0;  // at least one
};

// The fewest lanes in which no two threads overlap. A thread takes the lane that has been free for
// longest, so that it hardly ever waits for its predecessor there.
Lanes assign_lanes(std::span<const TraceThread> threads);

}  // namespace filereel
