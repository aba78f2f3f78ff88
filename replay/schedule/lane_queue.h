// Passes compiled operations from the feeder to the lanes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traces/operation.h"

namespace filereel {

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

}  // namespace filereel
