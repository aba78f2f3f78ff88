// Counts what one thread's operations did and compares it with the trace.
#pragma once

#include <bitset>
#include <cstdint>

#include "replay/engine/io_engine.h"

namespace filereel {

// One thread's. Only divergences cost more than a few nanoseconds.
class OutcomeRecorder {
 public:
  // `context` outlives the recorder.
  explicit OutcomeRecorder(const EngineContext& context);
  OutcomeRecorder(const OutcomeRecorder&) = delete;
  OutcomeRecorder& operator=(const OutcomeRecorder&) = delete;

  // `result` came at `end_ns` after `latency_ns`. False: a true mismatch.
  bool record(const Operation& op, std::int64_t result, std::uint64_t latency_ns,
              std::uint64_t end_ns) noexcept {
    return count(op, result, latency_ns, end_ns) || compare(op, path_of(op), result);
  }
  // The same for a result that comes later: `path` is what path_of() said in the beginning.
  bool record(const Operation& op, PathId path, std::int64_t result, std::uint64_t latency_ns,
              std::uint64_t end_ns) noexcept {
    return count(op, result, latency_ns, end_ns) || compare(op, path, result);
  }

  // The operation was not executed.
  void refuse() noexcept { ++statistics_.refused; }

  // Whether what a read gave is to be compared with what was written.
  bool checks_content(const Operation& op, std::int64_t result) const noexcept {
    return context_.verify == Verify::content && op.kind == OperationKind::read && result > 0 &&
           !op.hole && !op.loose && op.entry != kNoFileId;
  }
  // The byte at `position` of what a read gave is not what was written. False: nothing before
  // explains it.
  bool content_differs(const Operation& op, PathId path, std::uint64_t position) noexcept;

  // The name behind an operation, for divergences.
  PathId path_of(const Operation& op) const noexcept;

  ReplayStatistics& statistics() { return statistics_; }

 private:
  // Whether there is nothing to compare.
  bool count(const Operation& op, std::int64_t result, std::uint64_t latency_ns,
             std::uint64_t end_ns) noexcept {
    KindStatistics& kind = statistics_.kinds[static_cast<std::size_t>(op.kind)];
    kind.latency.record(latency_ns);
    std::uint64_t bytes = 0;
    if (result < 0) {
      ++kind.errors;
    } else {
      if (moves_data_[static_cast<std::size_t>(op.kind)])
        bytes = static_cast<std::uint64_t>(result);
      if (op.counts_file) ++statistics_.files;
    }
    kind.bytes += bytes;
    ++statistics_.operations;
    statistics_.series.record(end_ns - statistics_.series_origin_ns, latency_ns, bytes);
    if (op.loose) ++statistics_.unverified;
    return op.loose || result == op.expected;
  }

  bool compare(const Operation& op, PathId path, std::int64_t result) noexcept;
  void note(const Operation& op, PathId path, std::int64_t result, DivergenceClass what) noexcept;

  const EngineContext& context_;
  std::bitset<kOperationKinds> moves_data_;
  ReplayStatistics statistics_;
};

}  // namespace filereel
