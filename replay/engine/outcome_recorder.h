// Counts the results of one thread's operations and compares them with the trace.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "replay/engine/engine_context.h"

namespace filereel {

// Used by one thread. Only divergences cost more than a few nanoseconds.
class OutcomeRecorder {
 public:
  // `context` outlives the recorder.
  explicit OutcomeRecorder(const EngineContext& context);
  OutcomeRecorder(const OutcomeRecorder&) = delete;
  OutcomeRecorder& operator=(const OutcomeRecorder&) = delete;

  // Returns false for a true mismatch.
  bool record(const Operation& op, std::int64_t result, const CallTime& time) noexcept {
    const auto path = [&] { return path_of(op); };
    return count(op, path, result, time) || compare(op, path(), result);
  }
  // The same for a result that arrives later: `path` is the earlier result of path_of().
  bool record(const Operation& op, PathId path, std::int64_t result,
              const CallTime& time) noexcept {
    return count(op, [path] { return path; }, result, time) || compare(op, path, result);
  }

  // The operation was not executed.
  void refuse(OperationKind kind) noexcept {
    ++statistics_.refused[static_cast<std::size_t>(kind)];
  }

  // Whether the data of a read must be compared with the data written.
  bool checks_content(const Operation& op, std::int64_t result) const noexcept {
    return context_.verify == Verify::content && op.kind == OperationKind::read && result > 0 &&
           !op.hole && !op.loose && op.entry != kNoFileId;
  }
  // Records that the byte at `position` of a read differs from the data written. Returns false if
  // no earlier divergence explains it.
  bool content_differs(const Operation& op, PathId path, std::uint64_t position) noexcept;

  // The name of an operation's file, for divergences.
  PathId path_of(const Operation& op) const noexcept;

  ReplayStatistics& statistics() { return statistics_; }

 private:
  // Returns true if there is nothing to compare. `path()` is evaluated for slow operations only.
  template <class Path>
  bool count(const Operation& op, const Path& path, std::int64_t result,
             const CallTime& time) noexcept {
    const auto number = static_cast<std::size_t>(op.kind);
    KindStatistics& kind = statistics_.kinds[number];
    const std::size_t bucket = Histogram::bucket(time.latency);
    kind.by_size[has_sizes(op.kind) ? size_class(op.length) : 0].record(time.latency, bucket);
    if (paced_) {
      kind.service.record(time.service);
      statistics_.call_ns += time.service - std::min(time.service, work_in_[number]);
    }
    std::uint64_t bytes = 0;
    if (result < 0) {
      ++kind.errors;
    } else {
      if (moves_data_[number]) {
        kind.bytes += static_cast<std::uint64_t>(result);
        bytes = moved_bytes(op, static_cast<std::uint64_t>(result));
        statistics_.bytes += bytes;
      }
      if (op.counts_file) ++statistics_.files;
    }
    ++statistics_.operations;
    statistics_.grid.record(time.end - statistics_.begin_ns, bucket, bytes, syncs_[number]);
    if (statistics_.slowest.would_keep(time.latency)) [[unlikely]] {
      keep_slow(op, path(), time);
    }
    if (context_.latencies) [[unlikely]] {
      context_.latencies->push_back(time.latency);
    }
    if (op.loose) ++statistics_.unverified;
    return op.loose || result == op.expected;
  }

  void keep_slow(const Operation& op, PathId path, const CallTime& time) noexcept;
  bool compare(const Operation& op, PathId path, std::int64_t result) noexcept;
  void note(const Operation& op, PathId path, std::int64_t result, DivergenceClass what) noexcept;

  const EngineContext& context_;
  std::bitset<kOperationKinds> moves_data_, syncs_;
  std::array<std::uint64_t, kOperationKinds> work_in_;  // the part of a call that is work
  bool paced_;
  ReplayStatistics statistics_;
};

}  // namespace filereel
