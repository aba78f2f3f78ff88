// What a trace consists of, counted by reading it once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Accesses of one direction. One is sequential if it begins where the last one of the same open
// file ended, or at the beginning if it is the first.
struct AccessCounts {
  std::uint64_t accesses = 0, sequential = 0;
  std::uint64_t bytes = 0, sequential_bytes = 0;
};

struct ReelSummary {
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t errors = 0;    // calls that failed when they were recorded
    std::uint64_t bytes = 0;     // moved; data operations only
    std::uint64_t total_ns = 0;  // of the durations that are known
  };
  std::array<Kind, kOperationKinds> kinds{};
  std::uint64_t operations = 0;
  std::uint64_t calls = 0;         // of them; the others order the replay
  std::uint64_t asynchronous = 0;  // reads, writes and syncs that were queued
  AccessCounts reads, writes;
  std::uint64_t syncs = 0;  // fsync, fdatasync, sync_file_range, syncfs, msync
  std::uint64_t errors = 0;
  std::map<int, std::uint64_t> errors_by_number;  // errno: how many calls
  std::uint64_t threads_used = 0;                 // with at least one operation
  std::uint64_t files_touched = 0;                // different files that operations used
};

// Reads `source` to its end, or until the stop is requested. Throws what it throws.
ReelSummary summarise_trace(RecordedSource& source, const TraceInfo& info,
                            const std::stop_token& stop);

}  // namespace filereel
