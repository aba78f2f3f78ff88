#include "replay/schedule/feeder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"

namespace filereel {

Lanes assign_lanes(std::span<const TraceThread> threads) {
  std::vector<std::uint32_t> order(threads.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t i) { return threads[i].operations == 0; });
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return threads[i].first; });

  using Free = std::pair<std::uint64_t, std::uint32_t>;  // last operation so far, lane
  std::priority_queue<Free, std::vector<Free>, std::greater<>> lanes;
  Lanes result{std::vector<std::uint32_t>(threads.size()), 0};
  for (const std::uint32_t i : order) {
    auto lane = static_cast<std::uint32_t>(result.count);
    if (!lanes.empty() && lanes.top().first < threads[i].first) {
      lane = lanes.top().second;
      lanes.pop();
    } else {
      ++result.count;
    }
    result.of_thread[i] = lane;
    lanes.emplace(threads[i].last, lane);
  }
  result.count = std::max<std::size_t>(result.count, 1);
  return result;
}

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

Feeder::Feeder(RecordedSource& source, const Lanes& lanes, const Pacing& pacing, bool paced,
               std::unique_ptr<Dependencies> dependencies, const Output& output)
    : source_(source),
      lanes_(lanes),
      pacing_(pacing),
      paced_(paced),
      dependencies_(std::move(dependencies)),
      out_(output),
      open_(lanes.count),
      counts_(lanes.count) {}

void Feeder::run() {
  try {
    while (!out_.cancelled.load(std::memory_order_relaxed)) {
      const std::size_t count = source_.next(batch_);
      if (count == 0) break;
      if (dependencies_) look_at_board();
      for (std::size_t i = 0; i < count; ++i) add(batch_[i]);
      if (out_.pool.waiting_lanes.load(std::memory_order_relaxed) != 0) flush_waiting_lanes();
    }
  } catch (...) {
    flush_all();  // lanes may wait for operations already compiled
    throw;
  }
  flush_all();
}

void Feeder::add(RecordedOperation& recorded) {
  Operation& operation = recorded.operation;
  if (operation.thread >= lanes_.of_thread.size()) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("operation {} belongs to thread {}, but the trace has only {}: import "
                            "the trace again",
                            operation.position, operation.thread, lanes_.of_thread.size()));
  }
  const std::uint32_t lane = lanes_.of_thread[operation.thread];
  if (dependencies_) add_waits(operation, lane);
  if (paced_) {
    Operation pace;
    if (pacing_.add(recorded, pace)) append(lane, pace);
  }
  append(lane, operation);
}

void Feeder::add_waits(Operation& operation, std::uint32_t lane) {
  std::uint64_t waits = 0;
  for (const LanePosition moment :
       dependencies_->add(operation, LanePosition(lane, ++counts_[lane]))) {
    Operation await;
    await.kind = OperationKind::await;
    await.thread = operation.thread;
    await.position = operation.position;
    await.source = moment.lane();
    await.second = moment.count();
    append(lane, await);
    ++waits;
  }
  if (waits != 0) out_.waits.fetch_add(waits, std::memory_order_relaxed);
}

void Feeder::append(std::uint32_t lane, const Operation& operation) {
  Chunk*& chunk = open_[lane];
  if (!chunk) {
    chunk = take_chunk();
    if (!chunk) return;  // cancelled
  }
  chunk->operations[chunk->size++] = operation;
  if (chunk->full()) flush(lane);
}

// When all chunks are in use, lanes get no more operations for now, so partly filled chunks must be
// flushed. The first incomplete operation is among them, and waits for nothing else. Null:
// cancelled.
Chunk* Feeder::take_chunk() {
  for (;;) {
    if (Chunk* chunk = out_.pool.take()) return chunk;
    flush_all();
    out_.prefilled.store(1);
    out_.prefilled.notify_all();
    if (out_.cancelled.load()) return nullptr;
    out_.pool.wait_for_some();
  }
}

void Feeder::flush(std::uint32_t lane) {
  if (Chunk* chunk = std::exchange(open_[lane], nullptr)) out_.queues[lane].push(chunk);
}

void Feeder::flush_all() {
  for (std::uint32_t lane = 0; lane < open_.size(); ++lane) flush(lane);
}

void Feeder::flush_waiting_lanes() {
  for (std::uint32_t lane = 0; lane < open_.size(); ++lane) {
    if (open_[lane] && out_.queues[lane].is_waiting()) flush(lane);
  }
}

// Not on every batch: it costs a cache miss for each lane.
void Feeder::look_at_board() {
  constexpr std::size_t kBatchesPerLane = 16;
  since_look_ += kBatchesPerLane;
  if (since_look_ < counts_.size()) return;
  since_look_ = 0;
  for (std::uint32_t lane = 0; lane < counts_.size(); ++lane) {
    dependencies_->known().set_done(lane, std::min(out_.board.done(lane), counts_[lane]));
  }
}

}  // namespace filereel
