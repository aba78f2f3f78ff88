#include "traces/record/event_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace filereel {

bool EventQueue::is_full() {
  const std::scoped_lock lock(mutex_);
  return waiting_bytes_ >= most_bytes_;
}

void EventQueue::put(std::span<const std::byte> event) {
  const std::uint64_t length = event.size();
  const std::size_t needed = kAlign + (event.size() + kAlign - 1) / kAlign * kAlign;
  if (filling_.size() + needed > kChunk) flush();
  filling_.reserve(kChunk);
  const std::size_t at = filling_.size();
  filling_.resize(at + needed);
  std::copy_n(reinterpret_cast<const std::byte*>(&length), sizeof(length), &filling_[at]);
  std::copy(event.begin(), event.end(), &filling_[at + kAlign]);
}

void EventQueue::flush() {
  if (filling_.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    waiting_bytes_ += kChunk;
    full_.push_back(std::exchange(filling_, {}));
  }
  filled_.notify_one();
}

std::vector<std::byte> EventQueue::take(double seconds) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !full_.empty(); });
  if (full_.empty()) return {};
  std::vector<std::byte> chunk = std::move(full_.front());
  full_.pop_front();
  waiting_bytes_ -= kChunk;
  return chunk;
}

}  // namespace filereel
