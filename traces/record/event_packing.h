// Packs events of the kernel program to a tenth of their size: an event's head is stored as its
// difference from the previous head of the same thread.
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

// The last heads packed or unpacked, for several threads.
class PreviousHeads {
 public:
  using Head = std::array<std::uint64_t, kHeadWords>;
  static constexpr std::size_t kPlaces = 64;

  Head& at(std::size_t place) { return heads_[place]; }

 private:
  std::array<Head, kPlaces> heads_{};
};

class EventPacker {
 public:
  // The most bytes that packing adds to an event.
  static constexpr std::size_t kMostAdded = 48;

  // Packs the event to `out`, which must have room for it; returns the end. Any bytes are accepted.
  std::byte* pack(std::span<const std::byte> event, std::byte* out);

 private:
  PreviousHeads last_;
};

class EventUnpacker {
 public:
  // Removes the first event from `packed`, which an EventPacker wrote from its start. Valid until
  // the next call.
  std::span<const std::byte> unpack(std::span<const std::byte>& packed);

 private:
  PreviousHeads last_;
  std::vector<std::byte> event_;
};

}  // namespace filereel
