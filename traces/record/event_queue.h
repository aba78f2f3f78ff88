// Events on their way from the ring in the kernel to their reader: taken out by one thread as soon
// as may be, so that the ring does not fill, and read by another as fast as it can.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "traces/record/event_packing.h"

namespace filereel {

// Packed events. Their memory comes from the kernel page by page, and goes back to it when they
// have been read: nothing of a long queue stays with the process.
class EventChunk {
 public:
  EventChunk() = default;  // empty
  ~EventChunk();
  EventChunk(EventChunk&& other) noexcept;
  EventChunk& operator=(EventChunk&& other) noexcept;

  bool empty() const { return used_ == 0; }
  std::size_t bytes() const { return used_; }

  // False if the event does not fit any more. `packer` has packed all that is in the chunk, and
  // nothing else.
  bool put(std::span<const std::byte> event, EventPacker& packer);

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
  // Full from so many bytes of packed events on.
  explicit EventQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool is_full() const { return waiting_bytes() >= most_bytes_; }
  // Of the events that were flushed and not taken.
  std::size_t waiting_bytes() const;

  // Copies an event, even if the queue is full. One thread puts.
  void put(std::span<const std::byte> event);

  // Makes what was put visible to the reader.
  void flush();

  // Empty after `seconds` without any. One thread takes.
  EventChunk take(double seconds);

 private:
  std::size_t most_bytes_;
  EventChunk filling_;  // the putting thread's, as its packer
  EventPacker packer_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<EventChunk> full_;
  std::size_t waiting_bytes_ = 0;
};

template <typename Use>
void EventChunk::each(Use use) const {
  EventUnpacker unpacker;
  for (std::span<const std::byte> packed(pages_, used_); !packed.empty();) {
    use(unpacker.unpack(packed));
  }
}

}  // namespace filereel
