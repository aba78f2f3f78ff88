#include "traces/record/bpf/bpf_receiver.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include <boost/filesystem/path.hpp>

#include "traces/record/bpf/bpf_event.h"
#include "traces/record/bpf/bpf_event_view.h"

namespace filereel {
namespace {

// Empty: unknown.
std::string changed_path(const BpfEventView& event, std::size_t which) {
  const BpfEventView::Part& text = event.string(which);
  if (text.cut) return {};
  const std::string_view given = text.there ? text.bytes : std::string_view();
  if (given.starts_with('/')) return std::string(given);
  std::string base = real_path(event.real(which));
  if (base.ends_with(kRemovedMark)) base.pop_back();
  if (base.empty() || given.empty()) return base;
  return base + '/' + std::string(given);
}

}  // namespace

bool add_other_changes(std::span<const std::byte> bytes, OtherChanges& to) {
  BpfEventView event;
  if (!event.read(bytes) || event.head().kind != EVENT_OTHER) return false;
  const bpf_event& head = event.head();
  const std::string_view name(reinterpret_cast<const char*>(head.arguments),
                              2 * sizeof(head.arguments[0]));
  for (std::size_t which = 0; which < 2; ++which) {
    boost::filesystem::path path =
        boost::filesystem::path(changed_path(event, which)).lexically_normal();
    if (path.filename_is_dot()) path.remove_filename();  // it ended with a slash
    OtherChange change{.path = path.remove_trailing_separator().string(),
                       .program = std::string(name.substr(0, name.find('\0'))),
                       .process = head.process,
                       .at_ns = head.end_ns};
    if (change.path.empty()) continue;
    if (event.identity()) {
      const SeenStat seen = seen_stat(*event.identity());
      change.device = seen.device;
      change.inode = seen.inode;
    }
    to.add(std::move(change));
  }
  return true;
}

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
