#include "replay/schedule/feeder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"

namespace filereel {

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
