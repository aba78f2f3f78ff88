// The kernel's ring is small and cannot grow, and what does not fit is lost. Translation is slow
// compared with the calls of a program, and must not take the processors from it. Hence this queue:
// one thread does nothing but empty the ring, and the translation may lag behind, up to the end of
// the program.
//
// Two threads, one mutex. The putting thread owns `filling_` and `packer_` and takes the mutex to
// hand over a chunk (at most 1 MiB), not for each event. A chunk then belongs to the queue
// (`full_`, under the mutex), then to the reader. Chunks are packed independently: flush() resets
// the packer, as each reader of a chunk begins with a new one.
//
// put() runs within a callback of libbpf, through which no exception may pass. So chunks are pages
// from mmap, handing over is a splice of lists, and a lack of memory is a result, not an exception.
// is_full() is advice: put() takes the event in any case, because libbpf consumes it whatever the
// callback returns.
#include "traces/record/bpf/event_queue.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "filesets/system/varint.h"

namespace filereel {
namespace {

// A packed event contains its size. If that is at least a head's size, it continues with the entry
// of its thread, a bit for each word that differs, and the differences. The rest is copied.

std::byte* pack_number(std::uint64_t number, std::byte* out) {
  write_varint(number, [&out](std::uint8_t byte) { *out++ = std::byte{byte}; });
  return out;
}

std::uint64_t unpack_number(std::span<const std::byte>& packed) {
  const auto next = [&packed] {
    const auto byte = static_cast<std::uint8_t>(packed.front());
    packed = packed.subspan(1);
    return byte;
  };
  return read_varint(next).value();  // written by pack_number
}

}  // namespace

std::byte* EventPacker::pack(std::span<const std::byte> event, std::byte* out) {
  out = pack_number(event.size(), out);
  if (event.size() >= sizeof(bpf_event)) {
    PreviousHeads::Head head;
    std::memcpy(head.data(), event.data(), sizeof(head));
    bpf_event known;
    std::memcpy(&known, event.data(), sizeof(known));
    const std::size_t place = known.thread % PreviousHeads::kPlaces;
    PreviousHeads::Head& last = last_.at(place);
    *out++ = static_cast<std::byte>(place);
    std::byte* const differing = out;
    out += sizeof(std::uint16_t);
    std::uint16_t bits = 0;
    for (std::size_t i = 0; i < kHeadWords; ++i) {
      if (head[i] == last[i]) continue;
      bits = static_cast<std::uint16_t>(bits | 1u << i);
      out = pack_number(zigzag(head[i] - last[i]), out);
    }
    std::memcpy(differing, &bits, sizeof(bits));
    last = head;
    event = event.subspan(sizeof(bpf_event));
  }
  return std::ranges::copy(event, out).out;
}

std::span<const std::byte> EventUnpacker::unpack(std::span<const std::byte>& packed) {
  event_.resize(unpack_number(packed));
  std::span<std::byte> rest = event_;
  if (event_.size() >= sizeof(bpf_event)) {
    PreviousHeads::Head& last = last_.at(static_cast<std::size_t>(packed.front()));
    std::uint16_t bits = 0;
    std::memcpy(&bits, &packed[1], sizeof(bits));
    packed = packed.subspan(1 + sizeof(bits));
    for (std::size_t i = 0; i < kHeadWords; ++i) {
      if (bits >> i & 1u) last[i] += unzigzag(unpack_number(packed));
    }
    std::memcpy(event_.data(), last.data(), sizeof(last));
    rest = rest.subspan(sizeof(bpf_event));
  }
  std::ranges::copy(packed.first(rest.size()), rest.begin());
  packed = packed.subspan(rest.size());
  return event_;
}

EventChunk::~EventChunk() {
  if (pages_) munmap(pages_, kBytes);
}

EventChunk::EventChunk(EventChunk&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), used_(std::exchange(other.used_, 0)) {}

EventChunk& EventChunk::operator=(EventChunk&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(used_, other.used_);
  return *this;
}

bool EventChunk::prepare() noexcept {
  if (pages_) return true;
  void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  pages_ = static_cast<std::byte*>(pages);
  return true;
}

bool EventChunk::put(std::span<const std::byte> event, EventPacker& packer) noexcept {
  if (used_ + event.size() + EventPacker::kMostAdded > kBytes) return false;
  used_ = static_cast<std::size_t>(packer.pack(event, pages_ + used_) - pages_);
  return true;
}

bool EventQueue::put(std::span<const std::byte> event) noexcept {
  for (;;) {
    if (filling_.empty()) {
      try {
        filling_.emplace_back();
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    EventChunk& chunk = filling_.back();
    if (!chunk.prepare()) return false;
    if (chunk.put(event, packer_)) return true;
    if (chunk.empty()) return false;  // too long for any chunk
    flush();
  }
}

void EventQueue::flush() noexcept {
  if (filling_.empty() || filling_.back().empty()) return;
  packer_ = {};
  {
    const std::scoped_lock lock(mutex_);
    waiting_bytes_ += filling_.back().bytes();
    full_.splice(full_.end(), filling_);
  }
  filled_.notify_one();
}

void EventQueue::end() noexcept {
  flush();
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  filled_.notify_one();
}

bool EventQueue::has_ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_ && full_.empty();
}

EventChunk EventQueue::take(double seconds) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, std::chrono::duration<double>(seconds),
                   [&] { return !full_.empty() || ended_; });
  if (full_.empty()) return {};
  EventChunk chunk = std::move(full_.front());
  full_.pop_front();
  waiting_bytes_ -= chunk.bytes();
  return chunk;
}

}  // namespace filereel
