// Counts the content of a trace in one reading.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "traces/recorded_trace.h"

namespace filereel {

// Accesses of one direction. An access is sequential if it starts at the end of the previous one of
// the same open file, or at offset 0 if it is the first.
struct AccessCounts {
  std::uint64_t accesses = 0, sequential = 0;
  std::uint64_t bytes = 0, sequential_bytes = 0;
};

// Whether it makes something durable: fsync, fdatasync, syncfs, and msync with MS_SYNC.
// sync_file_range does not: it leaves out what is needed to find the data after a crash, and caches
// of drives.
bool is_sync(const Operation& operation);

struct ReelSummary {
  struct Kind {
    std::uint64_t count = 0;
    std::uint64_t errors = 0;    // calls that failed in the recording
    std::uint64_t bytes = 0;     // transferred; data operations only
    std::uint64_t total_ns = 0;  // sum of the known durations
  };
  std::array<Kind, kOperationKinds> kinds{};
  std::uint64_t operations = 0;
  std::uint64_t calls = 0;         // part of the operations; the others order the replay
  std::uint64_t asynchronous = 0;  // queued reads, writes and syncs
  AccessCounts reads, writes;
  std::uint64_t syncs = 0;  // is_sync
  std::uint64_t errors = 0;
  std::map<int, std::uint64_t> errors_by_number;  // number of calls by errno
  std::uint64_t threads_used = 0;                 // with at least one operation
  std::uint64_t files_touched = 0;                // different files used by operations
};

// Reads `source` to its end, or until the stop is requested. Throws its exceptions.
ReelSummary summarise_trace(RecordedSource& source, const TraceInfo& info,
                            const std::stop_token& stop);

}  // namespace filereel
