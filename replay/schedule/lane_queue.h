// How compiled operations get from the feeder to the lanes.
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
  Chunk* next = nullptr;            // in the list that it is in
};

// The chunks of all lanes, of a bounded number. One thread takes them out, any may give them back.
class ChunkPool {
 public:
  ChunkPool(std::size_t chunk_operations, std::size_t max_chunks);

  // An empty one, or null if all are out.
  Chunk* take();
  void give_back(Chunk* chunk) noexcept;

  // For the thread that takes, when all are out: waits until a good part is back, or for cancel().
  void wait_for_some() noexcept;
  void cancel() noexcept;

  // Lanes that wait for a chunk just now.
  std::atomic<std::uint32_t> hungry = 0;

 private:
  std::size_t chunk_operations_, max_chunks_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* free_ = nullptr;  // of the taker
  std::uint32_t takes_ = 0;
  std::atomic<Chunk*> returned_ = nullptr;
  std::atomic<std::uint32_t> returns_ = 0;    // modulo 2^32, as takes_
  std::atomic<std::uint32_t> wanted_at_ = 0;  // the returns at which the taker wants to be woken
  std::atomic<bool> cancelled_ = false;
};

// One lane's chunks: one thread pushes, one takes.
class LaneQueue {
 public:
  void push(Chunk* chunk) noexcept;
  // Nothing comes any more.
  void end() noexcept;
  bool is_hungry() const noexcept { return hungry_.load(std::memory_order_relaxed); }

  // As OperationSource::next; gives empty chunks back to the pool.
  std::size_t next(std::span<Operation> out, ChunkPool& pool) noexcept;
  bool would_wait() const noexcept;

 private:
  bool fetch(ChunkPool& pool) noexcept;
  bool collect() noexcept;

  std::atomic<Chunk*> inbox_ = nullptr;  // the last one that came first
  std::atomic<std::uint32_t> arrivals_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> hungry_ = false;
  alignas(64) Chunk* chunks_ = nullptr;  // of the taker, in order
};

}  // namespace filereel
