// The requests of an io_uring engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <span>

#include "replay/engine/content_buffer.h"
#include "replay/engine/operation_executor.h"

namespace filereel {

struct Request {
  explicit Request(std::byte* memory) : data(memory) {}

  std::list<Request>::iterator self;
  std::byte* data;  // its part of the arena
  Operation op;
  PathId path = 0;
  std::uint64_t submitted_ns = 0;
  std::uint64_t due_ns = 0;    // 0: none
  std::uint64_t sequence = 0;  // number of the operation in the engine
};
using Requests = std::list<Request>;  // entries move between lists without allocation

// Whether the order of two requests matters.
inline bool conflict(const Operation& a, const Operation& b) noexcept {
  const bool same =
      a.entry != kNoFileId && b.entry != kNoFileId ? a.entry == b.entry : a.file == b.file;
  const bool writes = a.kind == OperationKind::write || b.kind == OperationKind::write;
  if (!same || !writes) return false;
  // A read at the end of a file, or of a hole, depends on the file's length.
  const auto sees_length = [](const Operation& op) {
    return op.kind == OperationKind::read &&
           (op.hole || op.expected < static_cast<std::int64_t>(op.length));
  };
  if (sees_length(a) || sees_length(b)) return true;
  const auto begins_in = [](const Operation& one, const Operation& other) {
    return one.offset >= other.offset && one.offset - other.offset < bytes_of(other);
  };
  return begins_in(a, b) || begins_in(b, a);
}

// Owns the requests and their memory, one arena. A request is free, then queued, then in flight,
// then free again. The most recently freed is reused first, because its memory is in the
// processor's caches.
class RequestPool {
 public:
  // Number and size follow from the context. Throws std::bad_alloc.
  explicit RequestPool(const EngineContext& context)
      : bytes_(bytes_of_each(context)), depth_(depth_of(context)), arena_(depth_ * stride()) {
    for (std::size_t i = 0; i < depth_; ++i) {
      Request& request = free_.emplace_back(arena_.data() + i * stride());
      request.self = std::prev(free_.end());
    }
  }

  std::size_t depth() const noexcept { return depth_; }
  std::size_t request_bytes() const noexcept { return bytes_; }
  std::span<std::byte> arena() const noexcept { return arena_.first(arena_.size()); }
  std::span<std::byte> memory(const Request& request, std::uint64_t length) const noexcept {
    return {request.data, std::min<std::uint64_t>(length, bytes_)};
  }

  bool has_free() const noexcept { return !free_.empty(); }
  Request& free() noexcept { return free_.front(); }
  std::size_t in_use() const noexcept { return queued_.size() + in_flight_.size(); }
  std::size_t queued() const noexcept { return queued_.size(); }
  // The request that was queued first. There must be one.
  const Request& oldest() const noexcept {
    return in_flight_.empty() ? queued_.front() : in_flight_.front();
  }
  Request& oldest_flying() noexcept { return in_flight_.front(); }

  void queue(Request& free) noexcept { queued_.splice(queued_.end(), free_, free.self); }
  void submit(std::uint64_t now) noexcept {
    for (Request& request : queued_) request.submitted_ns = now;
    in_flight_.splice(in_flight_.end(), queued_);
  }
  void release(Request& flying) noexcept { free_.splice(free_.begin(), in_flight_, flying.self); }

  bool conflicts_with(const Operation& op) const noexcept {
    const auto conflicts = [&op](const Request& request) { return conflict(request.op, op); };
    return std::ranges::any_of(in_flight_, conflicts) || std::ranges::any_of(queued_, conflicts);
  }

 private:
  static constexpr std::size_t kPage = 4096;

  static std::size_t bytes_of_each(const EngineContext& context) {
    const std::size_t bytes = buffer_size(context);
    return context.queue_depth > 0 ? bytes : std::max(bytes, kPage);
  }
  std::size_t stride() const { return std::max((bytes_ + kPage - 1) / kPage * kPage, kPage); }
  std::size_t depth_of(const EngineContext& context) const {
    if (context.queue_depth > 0) return context.queue_depth;
    // A trace does not record its maximum of requests in flight: memory is the limit.
    const std::size_t lanes = context.board ? std::max<std::size_t>(context.board->size(), 1) : 1;
    return std::clamp<std::size_t>(2 * context.buffer_memory / lanes / bytes_, 4, 256);
  }

  std::size_t bytes_, depth_;
  Buffer arena_;
  Requests free_, queued_, in_flight_;  // queued_ and in_flight_ in the order of operations
};

}  // namespace filereel
