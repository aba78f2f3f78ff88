// Statistics of a replay, counted while it runs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/measure/counter.h"
#include "replay/measure/histogram.h"
#include "replay/results/operation_classes.h"
#include "traces/operation.h"

namespace filereel {

// --- The slowest operations of a replay.

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
  void keep(const SlowOperation& operation) noexcept;

  void merge(const SlowestOperations& other) noexcept;
  void clear() noexcept { count_ = threshold_ns_ = 0; }

  // In no particular order.
  std::span<const SlowOperation> operations() const { return std::span(heap_).first(count_); }

 private:
  std::array<SlowOperation, kMost> heap_;  // the fastest in front
  std::size_t count_ = 0;
  std::uint64_t threshold_ns_ = 0;  // the fastest of a full heap
};

// In nanoseconds. The latency of a late paced operation is measured from its due time, so that one
// slow call does not hide the delay of those behind it ("coordinated omission": G. Tene, "How NOT
// to Measure Latency", 2013).
struct CallTime {
  std::uint64_t latency = 0;  // from its due time, otherwise from its start
  std::uint64_t service = 0;  // of the call itself
  std::uint64_t end = 0;      // of the stopwatch
};

// Times of a call from `begin` to `end` that includes `own` of filereel's own work. `due`: 0 for an
// operation without a pace.
constexpr CallTime call_time(std::uint64_t begin, std::uint64_t end, std::uint64_t own,
                             std::uint64_t due) noexcept {
  const std::uint64_t from = due > 0 && due < begin ? due : begin;
  return {end - from - own, end - begin - own, end};
}

struct KindStatistics {
  Counter bytes;                                // returned by the calls; data operations only
  Counter errors;                               // calls that failed
  std::array<Histogram, kSizeClasses> by_size;  // latencies; kinds without sizes use one class
  Histogram service;                            // paced replays only

  // For all sizes.
  Histogram latency() const;
  std::uint64_t count() const;
};

// An operation whose result differs from the expected one.
struct Divergence {
  std::uint64_t position;  // of the operation in the trace (for a workload, in its thread), from 0
  std::uint32_t thread;    // of the trace
  DivergenceClass divergence_class;
  OperationKind kind;
  PathId path;            // of the named or open file
  std::int64_t expected;  // as in Operation::expected
  // The same; a failed call is -errno. Of other content, its first byte in the file.
  std::int64_t result;
};

// Calls of one kind that failed with one error although they succeed in the trace.
struct FailureCount {
  OperationKind kind = OperationKind::open;
  Role role = Role::near;  // the root of the path
  int error = 0;           // 0: a write that was cut short
  std::uint64_t count = 0;
};

struct ReplayStatistics {
  static constexpr std::size_t kDivergenceExamples = 8;
  static constexpr std::size_t kMostFailures = 256;  // entries of `failures`

  // Other threads may read these while the replay runs.
  std::array<KindStatistics, kOperationKinds> kinds;
  Counter operations;  // calls, without barriers
  Counter files;       // regular files completed (Operation::counts_file)
  Counter bytes;       // read and written (moved_bytes)

  std::uint64_t divergences = 0;
  std::array<std::uint64_t, kDivergenceClasses> by_class{};
  std::vector<Divergence> examples;  // the first of each class, by position
  std::vector<FailureCount> failures;
  std::uint64_t unverified = 0;  // operations not compared (Operation::loose)
  // Not executed, by kind: device nodes, owners, attributes of the system.
  std::array<std::uint64_t, kOperationKinds> refused{};
  Histogram lateness;  // delay of operations after their due time; paced replays
  // Of calls that took their time in the trace, too, and not in its pauses. Paced replays; a thread
  // uses its own.
  std::uint64_t call_ns = 0;
  // filereel's own share of lookups of directories, in no latency (ParentCache).
  std::uint64_t lookup_ns = 0;
  TimeGrid grid;
  SlowestOperations slowest;
  std::uint64_t begin_ns = 0;  // stopwatch time of the start of the grid
  Counter restarts;            // may be read during the replay; read it first

  const KindStatistics& of(OperationKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  // Allocates all memory for counting operations of these kinds, with reads and writes of up to
  // `largest_io` bytes, so that none is allocated later.
  void prepare(const std::bitset<kOperationKinds>& occurring, std::uint64_t largest_io);
  // Clears everything except divergences and failed calls, without allocation; the grid starts at
  // `now_ns`.
  void restart(std::uint64_t now_ns) noexcept;
  void merge(const ReplayStatistics& other);
  // Adds to the entry of the same kind, role and error. Allocates nothing after prepare().
  void add(const FailureCount& failure) noexcept;
};

// The bytes that count as moved by an operation with this many bytes of data. The content of a copy
// counts once, when it is read or copied, as it does in the field: not again when it is written.
constexpr std::uint64_t moved_bytes(const Operation& op, std::uint64_t bytes) noexcept {
  const bool writes_copy = op.kind == OperationKind::write && op.data == DataSource::last_read;
  return writes_copy ? 0 : bytes;
}

}  // namespace filereel
