#include "traces/model/trace_counter.h"

#include <algorithm>

namespace filereel {

void TraceCounter::add(const RecordedOperation& recorded) {
  const Operation& op = recorded.operation;
  const OperationInfo& kind = operation_info(op.kind);
  const bool copies = op.kind == OperationKind::copy_range;
  if (op.thread >= counts_.threads.size()) counts_.threads.resize(std::size_t{op.thread} + 1);
  TraceThread& thread = counts_.threads[op.thread];
  if (thread.operations++ == 0) thread.first = op.position;
  thread.last = op.position;
  ++counts_.operations;
  ++counts_.by_kind[static_cast<std::size_t>(op.kind)];
  if (kind.moves_data && op.expected > 0) {
    const auto moved = static_cast<std::uint64_t>(op.expected);
    if (op.kind != OperationKind::write) counts_.bytes_read += moved;
    if (op.kind != OperationKind::read) counts_.bytes_written += moved;
  }
  if (kind.moves_data && !copies) {
    counts_.largest_io = std::max(counts_.largest_io, std::min(op.length, kMaxTransfer));
  }
  if (op.file != kNoFile) counts_.slots = std::max(counts_.slots, op.file + 1);
  if (op.source != kNoFile) {
    std::uint32_t& numbers = copies ? counts_.slots : counts_.mappings;
    numbers = std::max(numbers, op.source + 1);
  }
  if (op.entry != kNoFileId) counts_.files = std::max(counts_.files, op.entry + 1);
  begin_ = std::min(begin_, recorded.start_ns);
  end_ = std::max(end_, recorded.start_ns + recorded.duration_ns);
}

void TraceCounter::fill(TraceInfo& info) const {
  info.operations = counts_.operations;
  info.by_kind = counts_.by_kind;
  info.bytes_read = counts_.bytes_read;
  info.bytes_written = counts_.bytes_written;
  info.duration_ns = counts_.operations == 0 ? 0 : end_ - begin_;
  info.slots = std::max(info.slots, counts_.slots);
  info.mappings = std::max(info.mappings, counts_.mappings);
  info.files = std::max(info.files, counts_.files);
  info.largest_io = counts_.largest_io;
  if (info.threads.size() < counts_.threads.size()) info.threads.resize(counts_.threads.size());
  for (TraceThread& thread : info.threads) thread.operations = thread.first = thread.last = 0;
  for (std::size_t i = 0; i < counts_.threads.size(); ++i) {
    info.threads[i].operations = counts_.threads[i].operations;
    info.threads[i].first = counts_.threads[i].first;
    info.threads[i].last = counts_.threads[i].last;
  }
}

}  // namespace filereel
