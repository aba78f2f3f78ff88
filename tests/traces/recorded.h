// Recorded traces in memory, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "traces/recorded_operation.h"

// Gives the operations that it holds, from the first to the last; `at` may be set back.
struct VectorRecordedSource final : filereel::RecordedSource {
  VectorRecordedSource() = default;
  explicit VectorRecordedSource(std::vector<filereel::RecordedOperation> given)
      : operations(std::move(given)) {}

  std::size_t next(std::span<filereel::RecordedOperation> out) override {
    const std::size_t count = std::min(out.size(), operations.size() - at);
    std::copy_n(operations.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
    at += count;
    return count;
  }

  std::vector<filereel::RecordedOperation> operations;
  std::size_t at = 0;
};

// Keeps what it is given.
struct VectorSink final : filereel::OperationSink {
  void add(const filereel::RecordedOperation& operation) override {
    operations.push_back(operation);
  }

  std::vector<filereel::RecordedOperation> operations;
};
