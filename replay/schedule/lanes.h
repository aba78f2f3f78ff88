// Assigns the threads of a trace to lanes.
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

// The minimum number of lanes in which no two threads overlap. A thread takes the lane that has
// been free for longest, so that it rarely waits for its predecessor there.
Lanes assign_lanes(std::span<const TraceThread> threads);

}  // namespace filereel
