// Recorded operations with their times, in trace order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "traces/operation.h"

namespace filereel {

struct RecordedOperation {
  Operation operation;            // `position` and `thread` are set
  std::uint64_t start_ns = 0;     // since the start of the trace
  std::uint64_t duration_ns = 0;  // 0: unknown
  // While it is recorded: the first bytes of a write, of which kMostData matter; empty: unknown.
  // Not a part of a trace.
  static constexpr std::size_t kMostData = 32;
  std::string_view data = {};
};

// Consumes the operations of a trace in order. Implemented by the reel writer, by editors and by
// tests.
class OperationSink {
 public:
  virtual ~OperationSink() = default;
  virtual void add(const RecordedOperation& operation) = 0;
};

// Provides the operations of all threads of a trace in order. Implemented by the reel reader, by
// generators and by tests.
class RecordedSource {
 public:
  virtual ~RecordedSource() = default;
  // Fills `out` from the start and returns the number of operations; 0 means the end. Throws Error.
  virtual std::size_t next(std::span<RecordedOperation> out) = 0;
};

}  // namespace filereel
