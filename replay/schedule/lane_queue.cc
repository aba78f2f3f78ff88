// The problem. The feeder must hand operations to many lanes while the clock runs. A lane that has
// work must not take a lock, and must not be slowed down by others that get or return chunks.
//
// Operations travel in chunks, and a chunk has one owner at each time: the feeder while it fills
// it, the queue, the lane that takes its operations, the pool. Both ways between threads, the inbox
// of a queue and the returned chunks of the pool, are lists to which a thread adds one element by
// compare and exchange, and from which the only reader takes all at once. A list that is only
// emptied as a whole has no ABA problem, and neither side ever waits for the other. The order of
// the inbox is reversed once, by the lane (collect).
//
// Members: `chunks_` belongs to the lane, `free_`, `takes_` and the vector of chunks to the feeder.
// The others are shared.
//
// Sleeping is the delicate part. A waiter first reads a counter, then looks, then sleeps only while
// the counter has the same value; the other side adds something and then increments the counter. So
// no wake-up is lost. `ended_` is read before the last look, or a chunk pushed between the two
// would be left in the inbox. The feeder sleeps until a quarter of all chunks is back, because
// waking it for each chunk would cost a system call of the lane that returns it: the one return
// that reaches `wanted_at_` wakes it. `waiting_` and `waiting_lanes` are hints. If the feeder
// misses one, the lane gets its partly filled chunk after the next batch.
#include "replay/schedule/lane_queue.h"

#include <algorithm>
#include <utility>

namespace filereel {

ChunkPool::ChunkPool(std::size_t chunk_operations, std::size_t max_chunks)
    : chunk_operations_(chunk_operations), max_chunks_(max_chunks) {}

Chunk* ChunkPool::take() {
  if (!free_) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
  if (free_) {
    ++takes_;
    Chunk* chunk = std::exchange(free_, free_->next);
    chunk->size = chunk->taken = 0;
    return chunk;
  }
  if (chunks_.size() == max_chunks_) return nullptr;
  ++takes_;
  return chunks_.emplace_back(std::make_unique<Chunk>(chunk_operations_)).get();
}

void ChunkPool::give_back(Chunk* chunk) noexcept {
  chunk->next = returned_.load(std::memory_order_relaxed);
  while (!returned_.compare_exchange_weak(chunk->next, chunk, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
  // Sequentially consistent, like the waiter's: at least one of them sees the other's store.
  const std::uint32_t count = returns_.fetch_add(1) + 1;
  if (count == wanted_at_.load()) returns_.notify_all();
}

void ChunkPool::wait_for_some() noexcept {
  const std::size_t may_be_out = max_chunks_ - std::max<std::size_t>(max_chunks_ / 4, 1);
  const std::uint32_t wanted = takes_ - static_cast<std::uint32_t>(may_be_out);
  wanted_at_.store(wanted);
  for (;;) {
    const std::uint32_t seen = returns_.load();
    if (static_cast<std::int32_t>(seen - wanted) >= 0 || cancelled_.load()) return;
    returns_.wait(seen);
  }
}

void ChunkPool::cancel() noexcept {
  cancelled_.store(true);
  returns_.fetch_add(1);
  returns_.notify_all();
}

void LaneQueue::push(Chunk* chunk) noexcept {
  chunk->next = inbox_.load(std::memory_order_relaxed);
  while (!inbox_.compare_exchange_weak(chunk->next, chunk, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
  arrivals_.fetch_add(1);
  arrivals_.notify_one();
}

void LaneQueue::end() noexcept {
  ended_.store(true);
  arrivals_.fetch_add(1);
  arrivals_.notify_one();
}

std::size_t LaneQueue::next(std::span<Operation> out, ChunkPool& pool) noexcept {
  if (!chunks_ && !fetch(pool)) return 0;
  Chunk& chunk = *chunks_;
  const std::size_t count = std::min(out.size(), chunk.size - chunk.taken);
  std::copy_n(chunk.operations.begin() + static_cast<std::ptrdiff_t>(chunk.taken), count,
              out.begin());
  chunk.taken += count;
  if (chunk.taken == chunk.size) {
    chunks_ = chunk.next;
    pool.give_back(&chunk);
  }
  return count;
}

bool LaneQueue::would_wait() const noexcept {
  return !chunks_ && !inbox_.load(std::memory_order_relaxed) && !ended_.load();
}

// Waits for chunks; returns false at the end.
bool LaneQueue::fetch(ChunkPool& pool) noexcept {
  for (;;) {
    const std::uint32_t seen = arrivals_.load();
    const bool ended = ended_.load();  // read before collecting, so that no chunk is missed
    if (collect()) return true;
    if (ended) return false;
    waiting_.store(true, std::memory_order_relaxed);
    pool.waiting_lanes.fetch_add(1, std::memory_order_relaxed);
    arrivals_.wait(seen);
    pool.waiting_lanes.fetch_sub(1, std::memory_order_relaxed);
    waiting_.store(false, std::memory_order_relaxed);
  }
}

bool LaneQueue::collect() noexcept {
  Chunk* newest_first = inbox_.exchange(nullptr, std::memory_order_acquire);
  while (newest_first) {
    Chunk* const chunk = std::exchange(newest_first, newest_first->next);
    chunk->next = std::exchange(chunks_, chunk);
  }
  return chunks_ != nullptr;
}

}  // namespace filereel
