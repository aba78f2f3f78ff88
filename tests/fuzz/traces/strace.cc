// strace's text: whatever the bytes are, the only exception is Error and nothing grows without
// bound.
#include <cstdint>
#include <string_view>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "traces/import/importers.h"

namespace {

struct Nowhere final : filereel::OperationSink {
  void add(const filereel::RecordedOperation&) override {}
};

}  // namespace

FUZZ_TARGET(strace) {
  filereel::TraceTables tables;
  Nowhere nowhere;
  try {
    filereel::LineReader input(std::string_view(reinterpret_cast<const char*>(data), size),
                               "input");
    const filereel::Importer& importer = filereel::strace_importer();
    importer.recognises(input.peek());
    filereel::TraceBuilder builder(tables, nowhere);
    importer.read(input, builder, {});
    builder.trees();
  } catch (const filereel::Error&) {
  }
}
