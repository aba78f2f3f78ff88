// What reports show of measurements beyond their summaries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/results/file_systems.h"
#include "replay/results/result.h"

namespace filereel {

// A result and where it came from.
struct ReportedResult {
  std::string file;  // as on the command line; "" for one that was just measured
  Result result;
  std::string group = {};  // results of the same group are one column, whatever their drives
  bool reference = false;  // indices are relative to it
};

// What each result is called, no two alike: its label, else its drives with their firmware, else
// its first volume, else when it was started.
std::vector<std::string> result_names(std::span<const ReportedResult> results);

// "Fast Disk 3 1.07 + Fast Disk 3 1.07": the drives of the volumes with their firmware, each once;
// "" where they are not known.
std::string drives_text(const Result& result);

// The one whose elapsed time is in the middle, of two the faster; null without samples. Failed ones
// only where all have failed. What cannot be a median, such as the course of a replay, is shown of
// it.
const Sample* typical_sample(const Measurement& measurement);

// One kind of operation in all samples together.
struct KindShare {
  std::string kind;
  std::uint64_t count = 0, errors = 0, bytes = 0;
  double seconds = 0;                            // in calls
  double share_of_time = 0, share_of_calls = 0;  // 0 to 1
};

// Those that took most time first.
std::vector<KindShare> shares_of_kinds(const Measurement& measurement);

// What one file system reached with one operation, over all file sets.
struct Score {
  std::size_t result = 0;  // its place in the list
  std::string operation, file_system;
  std::uint32_t sets = 0;
  // The geometric mean of the sets' medians, until durable: of MB/s, or of files/s where the
  // operation moves no data.
  double rate = 0;
  bool of_files = false;
  bool best = false;  // of all with this operation, where there are two or more
};

// Of FC-Test only, in the order of measuring; only sets that all of the results and file systems
// have measured count, so that the means are of the same.
std::vector<Score> scores_of(std::span<const ReportedResult> results);

}  // namespace filereel
