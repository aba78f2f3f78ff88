// Division of the memory limit of a recording.
#pragma once

#include <cstdint>

#include "traces/calls/memory_bound.h"

namespace filereel {

// All in bytes.
struct RecordingMemory {
  static constexpr std::uint64_t kLeast = 64'000'000, kDefault = 1'000'000'000;

  std::uint32_t ring = 0;   // in the kernel
  std::uint64_t queue = 0;  // limit on events waiting for translation
  MemoryBound::Limits known;
};

// `bytes`: kLeast or more, for a recorder with or without a ring.
RecordingMemory divide_memory(std::uint64_t bytes, bool has_ring);

}  // namespace filereel
