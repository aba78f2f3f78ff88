// Writing `.reel` files: the format of docs/reel-format.md.
#pragma once

#include <memory>
#include <string>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

struct ReelWriterOptions {
  int compression = 9;  // zstd's level, 1 to 19; recorders take a low one
  // The resolution of the times that come in, in nanoseconds (strace: 1000): they are stored in
  // these units, and rounded down to them.
  std::uint32_t time_unit_ns = 1;
};

// Streams operations into a file in bounded memory. The file appears under its name in finish(); a
// writer that is destroyed without it leaves nothing behind.
class ReelWriter final : public OperationSink {
 public:
  // `tables` outlives the writer and may grow between the calls. Throws Error(failed).
  ReelWriter(const std::string& path, const TraceTables& tables, const ReelWriterOptions& options);
  ~ReelWriter() override;

  // In the trace's order, positions counted from 0.
  void add(const RecordedOperation& operation) override;
  void finish(const TraceInfo& info, const TraceTrees& trees);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
