#include "traces/calls/recording_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kCallsBetweenLooks = 256;  // a check takes some microseconds

// Anonymous memory of this process in bytes; 0 if /proc does not provide it.
std::uint64_t own_bytes(const Descriptor& pages) {
  std::array<char, 128> text{};
  unsigned long resident = 0, shared = 0;
  if (pread(pages.get(), text.data(), text.size() - 1, 0) <= 0 ||
      std::sscanf(text.data(), "%*u %lu %lu", &resident, &shared) != 2 || resident < shared) {
    return 0;
  }
  return (resident - shared) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Upper bound: every path in both trees, written out.
std::uint64_t bytes_of_trees(const PathTable& paths) {
  constexpr std::uint64_t kEntry = 256;
  return 2 * (kEntry * paths.size() + paths.bytes());
}

}  // namespace

MemoryBound::MemoryBound(const Limits& limits, const PathTable& paths,
                         std::atomic<std::uint64_t>& dropped,
                         std::function<std::uint64_t()> besides)
    : limits_(limits),
      paths_(paths),
      dropped_(dropped),
      besides_(std::move(besides)),
      pages_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

bool MemoryBound::is_reached() {
  if (reached_ || asked_++ % kCallsBetweenLooks != 0) return reached_;
  const std::uint64_t besides = besides_ ? besides_() : 0;
  const std::uint64_t own = own_bytes(pages_), now = own - std::min(own, besides);
  reached_ = now > limits_.now || now + bytes_of_trees(paths_) > limits_.at_end;
  return reached_;
}

void MemoryBound::drop(std::string_view name, TraceBuilder& builder) {
  builder.lost(fmt::format("{}: {}", kEventsBeyondMemory, name));
  ++dropped_;
}

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
