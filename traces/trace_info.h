// What belongs to a recorded trace beside its operations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "traces/operation.h"

namespace filereel {

// How far the content of trace trees compresses (Content::compressed_permille). Recorded traces do
// not know their data; half is a middling figure.
inline constexpr std::uint16_t kTraceCompressedPermille = 500;

// How reasons in TraceInfo::lost begin that are the recorder's: what it saw and could not keep.
inline constexpr std::string_view kEventsLost = "events lost while recording";
inline constexpr std::string_view kEventsBeyondMemory = "events lost for lack of memory (--memory)";

// The names that operations refer to. Grows while a trace is made; complete when one is read.
struct TraceTables {
  PathTable paths;
  TextTable texts;
};

struct TraceThread {
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  std::uint32_t process = 0;  // as the recorded system called them
  std::uint32_t thread = 0;
  std::uint32_t parent = kNoParent;  // number of the thread that forked it
  std::string name;                  // of the program, may be empty
  std::uint64_t operations = 0;
  std::uint64_t first = 0, last = 0;  // positions of its first and last operation, if it has any
};

// The trees before and after. Their entries' content keys are FileIds (traces/operation.h), so that
// the bytes of an initial file are those that writing to it would make.
struct TraceTrees {
  FileSet initial;           // what must exist before the first operation
  std::uint64_t absent = 0;  // paths that must not
  FileSet final;             // what exists after the last one, of all that the trace knows
};

struct TraceInfo {
  // What it comes from, for people: "source" (strace, fio, …), "command", "recorded" …
  std::map<std::string, std::string> facts;
  std::vector<TraceThread> threads;
  std::uint64_t operations = 0;
  std::array<std::uint64_t, kOperationKinds> by_kind{};
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t duration_ns = 0;  // from the first operation's start to the last one's end
  std::uint32_t slots = 0;        // numbers of open files, and of mappings, are below these
  std::uint32_t mappings = 0;
  std::uint32_t files = 0;       // FileIds are below this
  std::uint64_t largest_io = 0;  // bytes of the largest read or write
  bool timed = true;             // the times mean something
  // What the recorder added to the time between two calls of a thread; 0: nothing, or not known.
  std::uint32_t recorder_ns = 0;
  // Recorded calls that are not in the trace, or only approximately, by reason: "lost events",
  // "writes to a memory map (not visible)" …
  std::map<std::string, std::uint64_t> lost, approximated;
  bool complete = true;  // false: torn; what is here was found again
};

}  // namespace filereel
