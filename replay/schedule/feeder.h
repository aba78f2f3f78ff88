// Distributes the operations of a trace to lanes, one for each thread of the replay.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay/engine/lane_board.h"
#include "replay/schedule/dependencies.h"
#include "replay/schedule/pacing.h"
#include "traces/operation.h"
#include "traces/recorded_trace.h"

namespace filereel {

// --- Assigns the threads of a trace to lanes.

struct Lanes {
  std::vector<std::uint32_t> of_thread;
  std::size_t count = 0;  // at least one
};

// The minimum number of lanes in which no two threads overlap. A thread takes the lane that has
// been free for longest, so that it rarely waits for its predecessor there.
Lanes assign_lanes(std::span<const TraceThread> threads);

// --- Passes compiled operations from the feeder to the lanes.

struct Chunk {
  explicit Chunk(std::size_t capacity) : operations(capacity) {}

  bool full() const { return size == operations.size(); }

  std::vector<Operation> operations;
  std::size_t size = 0, taken = 0;  // filled by the feeder, taken by the lane
  Chunk* next = nullptr;            // in its current list
};

// A bounded number of chunks for all lanes. One thread takes them, any thread may return them.
class ChunkPool {
 public:
  ChunkPool(std::size_t chunk_operations, std::size_t max_chunks);

  // Returns an empty chunk, or null if all are in use.
  Chunk* take();
  void give_back(Chunk* chunk) noexcept;

  // For the taking thread when all are in use: waits until a quarter of them is back, or for
  // cancel().
  void wait_for_some() noexcept;
  void cancel() noexcept;

  // Number of lanes waiting for a chunk.
  std::atomic<std::uint32_t> waiting_lanes = 0;

 private:
  std::size_t chunk_operations_, max_chunks_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* free_ = nullptr;  // used by the taker
  std::uint32_t takes_ = 0;
  std::atomic<Chunk*> returned_ = nullptr;
  std::atomic<std::uint32_t> returns_ = 0;    // modulo 2^32, as takes_
  std::atomic<std::uint32_t> wanted_at_ = 0;  // number of returns that wakes the taker
  std::atomic<bool> cancelled_ = false;
};

// The chunks of one lane: one thread pushes, one takes.
class LaneQueue {
 public:
  void push(Chunk* chunk) noexcept;
  // Marks the end.
  void end() noexcept;
  bool is_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  // As OperationSource::next; returns empty chunks to the pool.
  std::size_t next(std::span<Operation> out, ChunkPool& pool) noexcept;
  bool would_wait() const noexcept;

 private:
  bool fetch(ChunkPool& pool) noexcept;
  bool collect() noexcept;

  std::atomic<Chunk*> inbox_ = nullptr;  // newest first
  std::atomic<std::uint32_t> arrivals_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> waiting_ = false;
  alignas(64) Chunk* chunks_ = nullptr;  // used by the taker, in order
};

// --- Compiles a trace into the lanes' queues.

// Runs on its own thread, ahead of the lanes as far as the pool has chunks.
class Feeder {
 public:
  struct Output {
    ChunkPool& pool;
    std::vector<LaneQueue>& queues;  // by lane
    const LaneBoard& board;
    std::atomic<std::uint64_t>& waits;      // number of awaits
    const std::atomic<bool>& cancelled;     // no more operations are needed
    std::atomic<std::uint32_t>& prefilled;  // set and notified when the first window is compiled
  };

  // All arguments outlive the feeder. Null dependencies: there is one lane.
  Feeder(RecordedSource& source, const Lanes& lanes, const Pacing& pacing, bool paced,
         std::unique_ptr<Dependencies> dependencies, const Output& output);

  // Returns at the end of the trace or when cancelled; throws the errors of the source. The caller
  // must then end the queues.
  void run();

 private:
  static constexpr std::size_t kBatch = 256;

  void add(RecordedOperation& recorded);
  void add_waits(Operation& operation, std::uint32_t lane);
  void append(std::uint32_t lane, const Operation& operation);
  Chunk* take_chunk();
  void flush(std::uint32_t lane);
  void flush_all();
  void flush_waiting_lanes();
  void look_at_board();

  RecordedSource& source_;
  const Lanes& lanes_;
  Pacing pacing_;
  bool paced_;
  std::unique_ptr<Dependencies> dependencies_;
  Output out_;
  std::vector<Chunk*> open_;           // by lane: the chunk being filled, or null
  std::vector<std::uint64_t> counts_;  // by lane: operations so far
  std::size_t since_look_ = 0;
  std::array<RecordedOperation, kBatch> batch_;
};

}  // namespace filereel
