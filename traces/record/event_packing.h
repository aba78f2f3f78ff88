// Events of the recorder's program in the kernel in a tenth of their bytes: the head of an event is
// stored as what differs from that of its thread's event before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/record/bpf_event.h"

namespace filereel {

inline constexpr std::size_t kHeadWords = sizeof(bpf_event) / sizeof(std::uint64_t);
static_assert(sizeof(bpf_event) % sizeof(std::uint64_t) == 0);

// The last heads that were packed or unpacked, for several threads at a time.
class LastHeads {
 public:
  using Head = std::array<std::uint64_t, kHeadWords>;
  static constexpr std::size_t kPlaces = 64;

  Head& at(std::size_t place) { return heads_[place]; }

 private:
  std::array<Head, kPlaces> heads_{};
};

class EventPacker {
 public:
  // A packed event has so many bytes more than the event at most.
  static constexpr std::size_t kMostAdded = 48;

  // Writes the event to `out`, which has room for it; where it ends there. Any bytes may be an
  // event.
  std::byte* pack(std::span<const std::byte> event, std::byte* out);

 private:
  LastHeads last_;
};

class EventUnpacker {
 public:
  // Takes the first event off `packed`, which an EventPacker wrote from its beginning on. Valid
  // until the next call.
  std::span<const std::byte> unpack(std::span<const std::byte>& packed);

 private:
  LastHeads last_;
  std::vector<std::byte> event_;
};

}  // namespace filereel
