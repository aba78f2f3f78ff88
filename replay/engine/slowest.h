// The slowest operations of a replay.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "traces/operation.h"

namespace filereel {

struct SlowOperation {
  std::uint64_t latency_ns = 0;  // from its due time, otherwise from its start
  std::uint64_t service_ns = 0;  // of the call itself
  std::uint64_t end_ns = 0;      // of the stopwatch
  OperationKind kind = OperationKind::barrier;
  std::uint32_t thread = 0;  // of the trace
  PathId path = 0;           // of the named or open file
  std::uint64_t offset = 0, length = 0;
  std::uint64_t position = 0;  // in the trace; for a workload, in its thread
};

// Keeps a bounded number of the slowest operations, without allocation. Call would_keep() first: it
// is a single comparison.
class SlowestOperations {
 public:
  static constexpr std::size_t kMost = 32;

  bool would_keep(std::uint64_t latency_ns) const noexcept { return latency_ns > threshold_ns_; }
  void keep(const SlowOperation& one) noexcept;

  void merge(const SlowestOperations& other) noexcept;
  void clear() noexcept { count_ = threshold_ns_ = 0; }

  // In no particular order.
  std::span<const SlowOperation> operations() const { return std::span(heap_).first(count_); }

 private:
  std::array<SlowOperation, kMost> heap_;  // the fastest in front
  std::size_t count_ = 0;
  std::uint64_t threshold_ns_ = 0;  // the fastest of a full heap
};

}  // namespace filereel
