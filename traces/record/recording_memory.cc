#include "traces/record/recording_memory.h"

#include <algorithm>
#include <bit>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMostRing = 64 * kMiB;
constexpr std::uint64_t kFiles = 12 * kMiB;  // mapped files of filereel and its libraries
constexpr std::uint64_t kOwn = 12 * kMiB;    // heap before recording, and for blocks

}  // namespace

std::uint64_t default_memory(std::uint64_t left, bool has_ring) {
  const std::uint64_t least =
      has_ring ? RecordingMemory::kLeastWithRing : RecordingMemory::kLeastWithoutRing;
  const std::uint64_t tables = has_ring ? RecordingMemory::kTables : 0;
  return std::clamp((left - std::min(left, tables)) / 2, least, RecordingMemory::kDefault);
}

RecordingMemory divide_memory(std::uint64_t bytes, bool has_ring) {
  RecordingMemory shares;
  if (has_ring) {
    shares.ring = static_cast<std::uint32_t>(std::min(std::bit_floor(bytes / 8), kMostRing));
  }
  // The ring is mapped twice in succession and counts twice.
  const std::uint64_t left = bytes - kFiles - kOwn - 2 * std::uint64_t{shares.ring};
  // When recording ends, the whole ring can be put into a full queue. The limit at the end, with
  // the trees, is for an empty queue.
  shares.queue = left / 2 - shares.ring;
  shares.known = {.now = kOwn + left / 2, .at_end = kOwn + left};
  return shares;
}

}  // namespace filereel
