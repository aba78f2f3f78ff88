// Events between the kernel's ring and their reader, packed.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "traces/record/bpf/bpf_event.h"

namespace filereel {

// --- Packs events of the kernel program to a tenth of their size: an event's head is stored as its
// difference from the previous head of the same thread.

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

// --- Events between the kernel's ring and their reader. One thread removes them from the ring
// quickly, so that the ring does not fill up; another reads them at its own rate.

// Packed events. Pages come from the kernel and return to it when they have been read: a long queue
// leaves no memory in the process.
class EventChunk {
 public:
  EventChunk() = default;  // empty
  ~EventChunk();
  EventChunk(EventChunk&& other) noexcept;
  EventChunk& operator=(EventChunk&& other) noexcept;

  bool empty() const { return used_ == 0; }
  std::size_t bytes() const { return used_; }

  // Takes the pages. False if there is no memory.
  bool prepare() noexcept;
  // False if the event does not fit into the prepared chunk. `packer` must have packed exactly the
  // events in the chunk.
  bool put(std::span<const std::byte> event, EventPacker& packer) noexcept;

  // Calls `use` with each event.
  template <typename Use>
  void each(Use use) const;

 private:
  static constexpr std::size_t kBytes = 1 << 20;

  std::byte* pages_ = nullptr;
  std::size_t used_ = 0;
};

class EventQueue {
 public:
  // The queue is full at `most_bytes` of packed events.
  explicit EventQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool is_full() const { return waiting_bytes() >= most_bytes_; }
  // Bytes of events flushed but not taken.
  std::size_t waiting_bytes() const { return waiting_bytes_; }

  // Copies an event, even if the queue is full. For one thread only. Called by a C library, which
  // an exception must not pass through: returns false if there is no memory for the event.
  bool put(std::span<const std::byte> event) noexcept;

  // Makes the events visible to the reader.
  void flush() noexcept;

  // The same, and no further events follow.
  void end() noexcept;

  // Empty if nothing arrives within `seconds`, or before the end. For one thread only.
  EventChunk take(double seconds);

  // All events have been taken, and no further ones follow.
  bool has_ended() const;

 private:
  std::size_t most_bytes_;
  // One chunk or none, used by the putting thread, like its packer. A list, so that handing a chunk
  // over needs no memory.
  std::list<EventChunk> filling_;
  EventPacker packer_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::list<EventChunk> full_;
  std::atomic<std::size_t> waiting_bytes_ = 0;
  bool ended_ = false;
};

template <typename Use>
void EventChunk::each(Use use) const {
  EventUnpacker unpacker;
  for (std::span<const std::byte> packed(pages_, used_); !packed.empty();) {
    use(unpacker.unpack(packed));
  }
}

}  // namespace filereel
