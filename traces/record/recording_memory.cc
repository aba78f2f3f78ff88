#include "traces/record/recording_memory.h"

#include <algorithm>
#include <bit>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMostRing = 64 * kMiB;
constexpr std::uint64_t kFiles = 12 * kMiB;  // filereel itself and its libraries
constexpr std::uint64_t kOwn = 12 * kMiB;    // what it has before it knows anything, and for blocks

}  // namespace

RecordingMemory share_out(std::uint64_t bytes, bool has_ring) {
  RecordingMemory shares;
  if (has_ring) {
    shares.ring = static_cast<std::uint32_t>(std::min(std::bit_floor(bytes / 8), kMostRing));
  }
  // The ring is mapped twice, one time behind the other, and counts as such.
  const std::uint64_t left = bytes - kFiles - kOwn - 2 * std::uint64_t{shares.ring};
  // Whether the queue is full is asked before all that is in the ring is put into it. At the end it
  // is empty.
  shares.queue = left / 2 - shares.ring;
  shares.known = {.now = kOwn + left / 2, .at_end = kOwn + left};
  return shares;
}

}  // namespace filereel
