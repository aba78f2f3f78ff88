// Division of the memory limit of a recording.
#pragma once

#include <cstdint>

#include "traces/calls/memory_bound.h"

namespace filereel {

// All in bytes.
struct RecordingMemory {
  static constexpr std::uint64_t kLeast = 64'000'000, kDefault = 1'000'000'000;
  // The least that is chosen where memory is limited; and the tables of the kernel program, which
  // come in addition and are charged to the control group.
  static constexpr std::uint64_t kLeastWithRing = 48'000'000, kLeastWithoutRing = 32'000'000;
  static constexpr std::uint64_t kTables = 24'000'000;

  std::uint32_t ring = 0;   // in the kernel
  std::uint64_t queue = 0;  // limit on events waiting for translation
  MemoryBound::Limits known;
};

// Memory that must be left for a recorder.
constexpr std::uint64_t least_memory(bool has_ring) {
  return has_ring ? RecordingMemory::kLeastWithRing + RecordingMemory::kTables
                  : RecordingMemory::kLeastWithoutRing;
}

// The limit for a recording if none is given and `left` bytes, least_memory() or more, are left to
// it and the program: half of them, at most kDefault.
std::uint64_t default_memory(std::uint64_t left, bool has_ring);

// `bytes`: kLeastWithRing or kLeastWithoutRing or more, for a recorder with or without a ring.
RecordingMemory divide_memory(std::uint64_t bytes, bool has_ring);

}  // namespace filereel
