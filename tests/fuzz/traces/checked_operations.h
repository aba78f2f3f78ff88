// What holds for all operations that come of system calls: a reel can hold them, they use open
// files only, and what was opened or mapped is closed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>

#include "traces/operation.h"
#include "traces/recorded_trace.h"

class CheckedOperations final : public filereel::OperationSink {
 public:
  void add(const filereel::RecordedOperation& recorded) override {
    using filereel::Field;
    using filereel::OperationKind;
    const filereel::Operation& op = recorded.operation;
    const filereel::OperationInfo& info = filereel::operation_info(op.kind);
    const bool succeeded = op.expected >= 0;
    if (op.kind == OperationKind::open && succeeded) {
      require(op.file != filereel::kNoFile && open_.insert(op.file).second);
    } else if (has(info.fields, Field::file) && op.file != filereel::kNoFile) {
      require(open_.contains(op.file));
    }
    if (op.kind == OperationKind::close) open_.erase(op.file);
    if (op.kind == OperationKind::map) require(mapped_.insert(op.source).second);
    if (op.kind == OperationKind::unmap) require(mapped_.erase(op.source) == 1);
    if (info.moves_data) {
      require(op.offset <= INT64_MAX && op.length <= INT64_MAX - op.offset);
      require(op.expected <= static_cast<std::int64_t>(op.length));
    }
  }

  void finish() const { require(open_.empty() && mapped_.empty()); }

 private:
  static void require(bool holds) {
    if (!holds) std::abort();
  }

  std::set<filereel::FileSlot> open_, mapped_;
};
