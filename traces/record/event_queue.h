// Events on their way from the ring in the kernel to their reader: taken out by one thread as soon
// as may be, so that the ring does not fill, and read by another as fast as it can.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace filereel {

class EventQueue {
 public:
  // Full from so many bytes on.
  explicit EventQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool is_full();

  // Copies an event, even if the queue is full. One thread puts.
  void put(std::span<const std::byte> event);

  // Makes what was put visible to the reader.
  void flush();

  // A chunk of events, each behind its length (8 bytes) and padded to 8. Empty after `seconds`
  // without any. One thread takes.
  std::vector<std::byte> take(double seconds);

  // Calls `use` with each event of a chunk.
  template <typename Use>
  static void each(std::span<const std::byte> chunk, Use use);

 private:
  static constexpr std::size_t kChunk = 1 << 20;
  static constexpr std::size_t kAlign = 8;

  std::size_t most_bytes_;
  std::vector<std::byte> filling_;  // the putting thread's
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::vector<std::byte>> full_;
  std::size_t waiting_bytes_ = 0;
};

template <typename Use>
void EventQueue::each(std::span<const std::byte> chunk, Use use) {
  while (chunk.size() >= kAlign) {
    std::uint64_t length = 0;
    std::copy_n(chunk.begin(), sizeof(length), reinterpret_cast<std::byte*>(&length));
    use(chunk.subspan(kAlign, length));
    chunk = chunk.subspan(kAlign + (length + kAlign - 1) / kAlign * kAlign);
  }
}

}  // namespace filereel
