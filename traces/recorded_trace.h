// A recorded trace: operations with their times, and facts about the recording.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation.h"

namespace filereel {

// --- Recorded operations with their times, in trace order.

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

// --- Metadata of a recorded trace.

// Compressibility of content in trace trees (Content::compressed_permille). Recorded traces do not
// contain the data; half is an average value.
inline constexpr std::uint16_t kTraceCompressedPermille = 500;

// Prefixes of reasons in TraceInfo::lost for events that the recorder saw but could not store.
inline constexpr std::string_view kEventsLost = "events lost while recording";
inline constexpr std::string_view kEventsBeyondMemory = "events lost for lack of memory (--memory)";

// Names of facts (TraceInfo::facts) about what disturbed the recording; their texts are for
// display.
inline constexpr std::string_view kStoppedFact = "stopped";      // by SIGSTOP, or a suspend
inline constexpr std::string_view kThrottledFact = "throttled";  // by a quota of processor time
inline constexpr std::string_view kFailedFact = "failed";        // how the program ended
inline constexpr std::string_view kUnrecognisedFact = "unrecognised";  // the first such line

// The names that operations refer to. Grows while a trace is created; complete when a trace is
// read.
struct TraceTables {
  PathTable paths;
  TextTable texts;
};

// How a recording compared with the real tree after the program had ended (traces/check/).
struct RecordingCheck {
  static constexpr std::size_t kMostTexts = 10;

  bool done = false;                // false: not compared
  std::string why_not;              // the reason, if there is one
  std::uint64_t names = 0;          // compared
  std::uint64_t unchecked = 0;      // not, or not fully, compared: time, permission
  std::uint64_t differing = 0;      // names that differ
  std::uint64_t changed_later = 0;  // names that differ, but changed after the recording
  std::uint64_t by_others = 0;      // names that differ, which another process was seen to change
  std::uint64_t writes = 0;         // whose first bytes were compared
  std::vector<std::string> differences;  // the first ones: path, and what differs
  std::vector<std::string> others;       // the same of `by_others`, with the process

  bool operator==(const RecordingCheck&) const = default;
};

struct TraceThread {
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  std::uint32_t process = 0;  // numbers on the recorded system
  std::uint32_t thread = 0;
  std::uint32_t parent = kNoParent;  // number of the thread that forked it
  std::string name;                  // program name, may be empty
  std::uint64_t operations = 0;
  std::uint64_t first = 0, last = 0;  // positions of its first and last operation, if any
};

// The trees before and after. Content keys of their entries are FileIds (traces/operation.h). The
// bytes of an initial file therefore equal those that a write to it would produce.
struct TraceTrees {
  FileSet initial;           // what must exist before the first operation
  std::uint64_t absent = 0;  // number of paths that must not exist
  FileSet final;  // everything that exists after the last operation, as far as the trace knows
};

struct TraceInfo {
  // Origin, for display: "source" (strace, fio, …), "command", "recorded" …
  std::map<std::string, std::string> facts;
  std::vector<TraceThread> threads;
  std::uint64_t operations = 0;
  std::array<std::uint64_t, kOperationKinds> by_kind{};
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t duration_ns = 0;  // from the start of the first operation to the end of the last
  std::uint32_t slots = 0;        // upper bound of open-file and mapping numbers
  std::uint32_t mappings = 0;
  std::uint32_t files = 0;       // upper bound of FileIds
  std::uint64_t largest_io = 0;  // bytes of the largest read or write
  bool timed = true;             // the times are meaningful
  // Time that the recorder added between two calls of a thread; 0: none or unknown.
  std::uint32_t recorder_ns = 0;
  // The waits of threads are recorded (wait, wake): between its operations, a thread used a
  // processor. Otherwise, nothing is known about pauses.
  bool waits = false;
  // Recorded calls that are missing from the trace or approximated, by reason, such as "unsupported
  // system calls".
  std::map<std::string, std::uint64_t> lost, approximated;
  RecordingCheck check;
  // Of the names, operations, threads and trees as stored; 0 if the trace is not from a reel.
  std::uint64_t digest = 0;
  bool complete = true;  // false: truncated; the values here were reconstructed
};

// --- A complete recorded trace: its operations and their metadata.

// Can be read any number of times. Implemented by the reel reader, by the simulated database server
// and by copies of another trace.
class RecordedTrace : public RecordedSource {
 public:
  virtual const TraceTables& tables() const = 0;
  virtual const TraceInfo& info() const = 0;
  virtual const TraceTrees& trees() const = 0;
  // Makes next() restart at the first operation.
  virtual void rewind() = 0;
};

// --- Formats the time of a recording for display.

// "2026-11-21 18:02:39 UTC"; `ns` since 1970. Empty if the time is out of range.
std::string utc_date(std::uint64_t ns);

// --- A recorded trace in a line.

// "1234 operations by 3 threads on 210 files, 5.6 MB read, 1.2 MB written, 12.3 s".
std::string describe_trace(const TraceInfo& info);

// --- What a reel tells about its recording that makes it no less usable, but may surprise: kept as
// facts (TraceInfo::facts), and repeated by the commands that record and predict.

inline constexpr std::string_view kRunningFact = "running";  // before the recording began
inline constexpr std::string_view kBusyFact = "busy";        // other programs used the processors
inline constexpr std::string_view kClientFact = "client";    // it seems to be one of a server

// As sentences without the final full stop, printable.
std::vector<std::string> recording_remarks(const TraceInfo& info);

}  // namespace filereel
