// Operations as they were recorded: in the order of the trace, with their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "traces/operation.h"

namespace filereel {

struct RecordedOperation {
  Operation operation;            // `position` and `thread` are set
  std::uint64_t start_ns = 0;     // since the trace's begin
  std::uint64_t duration_ns = 0;  // 0: unknown
};

// Takes the operations of a trace, in its order. Implemented by the reel writer, by editors and by
// tests.
class OperationSink {
 public:
  virtual ~OperationSink() = default;
  virtual void add(const RecordedOperation& operation) = 0;
};

// Gives the operations of all threads of a trace, in its order. Implemented by the reel reader, by
// generators and by tests.
class RecordedSource {
 public:
  virtual ~RecordedSource() = default;
  // Fills `out` from its beginning and returns how many it holds now; 0 means the end. Throws
  // Error.
  virtual std::size_t next(std::span<RecordedOperation> out) = 0;
};

}  // namespace filereel
