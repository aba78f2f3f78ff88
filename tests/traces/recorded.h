// Recorded traces in memory, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "traces/recorded_trace.h"

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

// A whole trace of such a source, whose other parts are the caller's.
class PartsTrace final : public filereel::RecordedTrace {
 public:
  PartsTrace(VectorRecordedSource& source, const filereel::TraceTables& tables,
             const filereel::TraceInfo& info, const filereel::TraceTrees& trees)
      : source_(source), tables_(tables), info_(info), trees_(trees) {}

  std::size_t next(std::span<filereel::RecordedOperation> out) override {
    return source_.next(out);
  }
  const filereel::TraceTables& tables() const override { return tables_; }
  const filereel::TraceInfo& info() const override { return info_; }
  const filereel::TraceTrees& trees() const override { return trees_; }
  void rewind() override { source_.at = 0; }

 private:
  VectorRecordedSource& source_;
  const filereel::TraceTables& tables_;
  const filereel::TraceInfo& info_;
  const filereel::TraceTrees& trees_;
};

// Keeps what it is given.
struct VectorSink final : filereel::OperationSink {
  void add(const filereel::RecordedOperation& operation) override {
    operations.push_back(operation);
  }

  std::vector<filereel::RecordedOperation> operations;
};
