// Common parts of the commands that read and write reels.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "tools/cli/session.h"
#include "traces/check/recording_check.h"
#include "traces/model/trace_builder.h"
#include "traces/recorded_trace.h"
#include "traces/reel/reel_reader.h"
#include "traces/reel/reel_writer.h"

namespace filereel {

// Forwards a trace, counts operations for the progress line, and ends early on a stop request.
class WatchedSource final : public RecordedSource {
 public:
  // `source` and `count` must outlive this object.
  WatchedSource(RecordedSource& source, std::atomic<std::uint64_t>& count, std::stop_token stop)
      : source_(source), count_(count), stop_(std::move(stop)) {}
  std::size_t next(std::span<RecordedOperation> out) override;

 private:
  RecordedSource& source_;
  std::atomic<std::uint64_t>& count_;
  std::stop_token stop_;
};

// Writes a reel: everything added to builder() goes into the file.
class ReelOutput final : private OperationSink {
 public:
  ReelOutput(const std::string& path, const ReelWriterOptions& options);

  TraceBuilder& builder() { return builder_; }
  // Thread-safe.
  std::uint64_t written() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }  // read and written by operations

  // Marks the recording if its program looks like the client of a server. Not for running servers,
  // which are idle most of the time.
  void mark_clients() { marks_clients_ = true; }
  // For how long threads were ready but had no processor, together.
  double waited_for_processors_s() const { return static_cast<double>(ready_ns_) * 1e-9; }

  // Prepares a check of the content. Call it before the first operation.
  void sample_content() { samples_.emplace(); }
  // Compares what was recorded with the real tree. Call it after the last operation.
  const RecordingCheck& check(const CheckRequest& request);

  // Moves the file into place and prints a summary, as a notice if standard output has the reel.
  void finish(bool timed, const Session& session);
  // The same, always with a notice, because the recorded program uses standard output.
  void finish_quietly(bool timed, const Session& session);

 private:
  void add(const RecordedOperation& operation) override;
  TraceInfo complete(bool timed, const Session& session);
  void remark(const TraceInfo& info, const Session& session) const;
  bool works_elsewhere(const TraceInfo& info) const;

  std::string path_;
  TraceTables tables_;
  ReelWriter writer_;
  LastOperations last_;
  std::optional<ContentSamples> samples_;
  std::atomic<std::uint64_t> count_ = 0, bytes_ = 0;
  // Of all threads: in calls, waiting for others, waiting for a processor.
  std::uint64_t in_files_ns_ = 0, outside_ns_ = 0, ready_ns_ = 0;
  bool marks_clients_ = false;
  TraceBuilder builder_;
};

// Values of the option --check; true: content, too. Throws Error(usage).
bool checks_content(const std::string& what);

// Reports what was lost or approximated in the trace, and how it differs from reality.
void notice_of_losses(const TraceInfo& info, const Session& session);

}  // namespace filereel
