// Refuses trees and traces that volumes cannot hold, before anything is created. The limits are
// those of replay/volumes/file_system.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/entries.h"
#include "replay/results/result.h"
#include "replay/volumes/file_system.h"
#include "traces/recorded_trace.h"

namespace filereel {

// Throws Error(failed) if a file of the set is too large, has too many names or is in a directory
// with too many entries, or if the text of a symbolic link is too long. The message names it;
// `advice` says what to do.
void check_entries(const EntryList& entries, const FileSystemLimits& limits,
                   std::string_view advice);

// Throws Error(failed) if entries have links on a file system without them.
void check_links(const EntryList& entries, const FileSystemLimits& limits, std::string_view advice);

// Number of entries with a time that the file system changes.
std::uint64_t times_outside(const EntryList& entries, const FileSystemLimits& limits);

// The greatest of what the operations of a trace ask for, those that failed excepted.
struct TraceDemands {
  std::uint64_t largest_file = 0;  // bytes up to the end of a write, or a size that was set
  PathId largest_path = PathTable::kNone;
  // By text: the first symbolic link created with it, or kNone.
  std::vector<PathId> links = {};
  std::uint32_t largest_xattr = 0;
  bool sets_times = false;
  std::int64_t earliest_ns = INT64_MAX, latest_ns = INT64_MIN;  // set times, except for "now"
};

// Reads the trace to its end.
TraceDemands demands_of(RecordedSource& source, const TextTable& texts);

// As check_entries, for operations. `texts` are those of the trace, fitted to the volumes.
void check_demands(const TraceDemands& demands, const PathTable& paths, const TextTable& texts,
                   const FileSystemLimits& limits, std::string_view advice);

// Adds a warning for operations whose effect the file system changes or refuses.
void warn_of_demands(const TraceDemands& demands, const FileSystemLimits& limits,
                     const std::string& file_system, Result& result);

}  // namespace filereel
