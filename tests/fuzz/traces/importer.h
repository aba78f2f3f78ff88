// What holds for every importer: whatever the bytes are, the only exception is Error, nothing grows
// without bound, operations use open files only, and what was read can be exported.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "filesets/system/error.h"
#include "tests/traces/recorded.h"
#include "traces/export/dump.h"
#include "traces/export/exporters.h"
#include "traces/import/importers.h"

class CheckedSink final : public filereel::OperationSink {
 public:
  void add(const filereel::RecordedOperation& recorded) override {
    const filereel::Operation& operation = recorded.operation;
    kept.add(recorded);
    if (operation.kind == filereel::OperationKind::open && operation.expected >= 0) {
      require(open_.insert(operation.file).second);
    } else if (operation.file != filereel::kNoFile) {
      require(open_.contains(operation.file));
    }
    if (operation.kind == filereel::OperationKind::close) open_.erase(operation.file);
    if (filereel::operation_info(operation.kind).moves_data) {
      require(operation.offset <= INT64_MAX && operation.length <= INT64_MAX - operation.offset);
      require(operation.expected <= static_cast<std::int64_t>(operation.length));
    }
  }

  VectorSink kept;

 private:
  static void require(bool holds) {
    if (!holds) std::abort();
  }

  std::set<filereel::FileSlot> open_;
};

inline void fuzz_importer(const filereel::Importer& importer, std::string_view text) {
  filereel::TraceTables tables;
  CheckedSink sink;
  filereel::TraceBuilder builder(tables, sink);
  filereel::LineReader input(text, "input");
  importer.recognises(input.peek());
  try {
    importer.read(input, builder, {});
  } catch (const filereel::Error&) {
  }
  builder.trees();
  std::string line;
  for (const filereel::RecordedOperation& operation : sink.kept.operations) {
    line.clear();
    filereel::append_dump_line(operation, tables, true, line);
  }
  for (const filereel::Exporter& exporter : filereel::exporters()) {
    VectorRecordedSource source(sink.kept.operations);
    exporter.write(source, tables, builder.info(), [](std::string_view) {});
  }
}
