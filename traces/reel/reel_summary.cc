#include "traces/reel/reel_summary.h"

#include <algorithm>
#include <vector>

#include <sys/mman.h>

namespace filereel {
namespace {

class Counter {
 public:
  explicit Counter(const TraceInfo& info)
      : ends_(info.slots), seen_(info.files), active_(info.threads.size()) {}

  void count(const RecordedOperation& recorded) {
    const Operation& operation = recorded.operation;
    const OperationInfo& info = operation_info(operation.kind);
    ReelSummary::Kind& kind = summary_.kinds[static_cast<std::size_t>(operation.kind)];
    ++kind.count;
    ++summary_.operations;
    mark(active_, operation.thread, summary_.threads_used);
    mark(seen_, operation.entry, summary_.files_touched);
    if (!info.is_call) return;
    ++summary_.calls;
    summary_.asynchronous += operation.asynchronous ? 1 : 0;
    kind.total_ns += recorded.duration_ns;
    if (operation.expected < 0) {
      ++kind.errors;
      ++summary_.errors;
      ++summary_.errors_by_number[static_cast<int>(-operation.expected)];
    }
    if (is_sync(operation)) ++summary_.syncs;
    if (info.moves_data && operation.expected > 0) {
      kind.bytes += static_cast<std::uint64_t>(operation.expected);
    }
    if (operation.kind == OperationKind::open && operation.file < ends_.size()) {
      ends_[operation.file] = {};
    }
    if (operation.kind == OperationKind::read) access(operation, summary_.reads);
    if (operation.kind == OperationKind::write) access(operation, summary_.writes);
  }

  const ReelSummary& summary() const { return summary_; }

 private:
  static void mark(std::vector<bool>& marks, std::uint64_t number, std::uint64_t& count) {
    if (number >= marks.size() || marks[number]) return;
    marks[number] = true;
    ++count;
  }

  // Failed accesses and those at the end of a file transfer nothing and do not affect the pattern.
  void access(const Operation& operation, AccessCounts& pattern) {
    if (operation.expected <= 0 || operation.file >= ends_.size()) return;
    const auto bytes = static_cast<std::uint64_t>(operation.expected);
    std::uint64_t& end = ends_[operation.file];
    ++pattern.accesses;
    pattern.bytes += bytes;
    if (operation.offset == end) {
      ++pattern.sequential;
      pattern.sequential_bytes += bytes;
    }
    end = operation.offset + bytes;
  }

  ReelSummary summary_;
  std::vector<std::uint64_t> ends_;  // by open file: end of the last access
  std::vector<bool> seen_, active_;
};

}  // namespace

bool is_sync(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::sync:
    case OperationKind::sync_data:
    case OperationKind::sync_volume:
      return true;
    case OperationKind::sync_map:
      return (operation.flags & MS_SYNC) != 0;
    default:
      return false;
  }
}

ReelSummary summarise_trace(RecordedSource& source, const TraceInfo& info,
                            const std::stop_token& stop) {
  Counter counter(info);
  std::vector<RecordedOperation> batch(1024);
  while (!stop.stop_requested()) {
    const std::size_t filled = source.next(batch);
    if (filled == 0) break;
    for (std::size_t i = 0; i < filled; ++i) counter.count(batch[i]);
  }
  return counter.summary();
}

}  // namespace filereel
