// Writes `.reel` files: the format of docs/reel-format.md.
#pragma once

#include <memory>
#include <string>

#include "traces/recorded_trace.h"

namespace filereel {

struct ReelWriterOptions {
  int compression = 11;  // zstd level, 1 to 19; recorders use a low one
  // The resolution of the given times, in nanoseconds (strace: 1000). Times are stored in these
  // units, rounded down.
  std::uint32_t time_unit_ns = 1;
};

// Streams operations to a file in bounded memory. The file appears under its name in finish(); a
// writer destroyed earlier leaves nothing.
class ReelWriter final : public OperationSink {
 public:
  // `tables` outlives the writer and may grow between calls. Throws Error(failed).
  ReelWriter(const std::string& path, const TraceTables& tables, const ReelWriterOptions& options);
  ~ReelWriter() override;

  // In the order of the trace, with positions from 0.
  void add(const RecordedOperation& operation) override;
  // Returns "", or a line for the user if the file is not at its intended place, as
  // AtomicFile::commit().
  std::string finish(const TraceInfo& info, const TraceTrees& trees);
  // After finish(): the place of the file.
  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
