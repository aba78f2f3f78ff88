#include "traces/record/bpf_receiver.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "traces/record/bpf_event.h"
#include "traces/record/bpf_other_changes.h"

namespace filereel {
namespace {

constexpr std::uint64_t kOthersAtOnce = 1024;  // some milliseconds

// The event in a record of a ring, which can be longer.
std::span<const std::byte> event_in(void* record, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(record);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes + offsetof(bpf_event, size), sizeof(length));
  return {bytes, std::min<std::size_t>(length, size)};
}

}  // namespace

int BpfReceiver::put(void* receiver, void* record, std::size_t size) noexcept {
  auto& to = *static_cast<BpfReceiver*>(receiver);
  const std::span<const std::byte> event = event_in(record, size);
  if (!to.queue_.put(event)) to.lose(event);
  return to.queue_.is_full() ? -ENOBUFS : 0;
}

int BpfReceiver::put_other(void* receiver, void* record, std::size_t size) noexcept {
  auto& to = *static_cast<BpfReceiver*>(receiver);
  const std::span<const std::byte> event = event_in(record, size);
  try {
    add_other_changes(event, to.others_);
  } catch (const std::bad_alloc&) {
    to.lose(event);
  }
  return ++to.others_read_ % kOthersAtOnce == 0 ? -EAGAIN : 0;
}

void BpfReceiver::lose(std::span<const std::byte> event) noexcept {
  bpf_event head{};
  std::memcpy(&head, event.data(), std::min(event.size(), sizeof(head)));
  had_no_memory_ = true;
  const std::size_t place = head.kind % EVENT_KINDS * std::size_t{SHAPES} + head.number % SHAPES;
  std::atomic_ref(lost_[place]).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace filereel
