// Figures of reports beyond the summaries of measurements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/results/file_systems.h"
#include "replay/results/result.h"

namespace filereel {

// A result and its source.
struct ReportedResult {
  std::string file;  // as on the command line; "" if just measured
  Result result;
  std::string group = {};  // results of a group share a column, regardless of drives
  bool reference = false;  // indices are relative to it
};

// A unique name for each result: its label, otherwise its drives with firmware, otherwise its first
// volume, otherwise its start time.
std::vector<std::string> result_names(std::span<const ReportedResult> results);

// "Fast Disk 3 1.07 + Fast Disk 3 1.08": the drives of the volumes with their firmware, without
// duplicates, or near's name if only another drive is known; "" if none is.
std::string drives_text(const Result& result);

// The sample with the median elapsed time (the faster of two); null without samples. Failed ones
// only if all have failed. Used for data that has no median, such as the course of a replay.
const Sample* typical_sample(const Measurement& measurement);

// Whether no sample of the measurement is usable.
bool all_failed(const Measurement& measurement);

// Whether its work was not done: calls failed, or all samples.
bool is_failed(const Measurement& measurement);

// What an interrupted run has, and what is missing: "the run ended early, with 2 to 3 runs of each
// measurement; not measured: xfs". "" for a complete one.
std::string incomplete_text(const Result& result);

// One kind of operation over all samples.
struct KindShare {
  std::string kind;
  std::uint64_t count = 0, errors = 0, bytes = 0;
  double seconds = 0;                            // in calls
  double share_of_time = 0, share_of_calls = 0;  // 0 to 1
};

// Sorted by time, longest first.
std::vector<KindShare> shares_of_kinds(const Measurement& measurement);

// The mean rate of one operation on one file system over all file sets.
struct Score {
  std::size_t result = 0;  // index in the list
  std::string operation, file_system;
  std::uint32_t sets = 0;
  // The geometric mean of the sets' medians: MB/s, or files/s if the operation moves
  // no data.
  double rate = 0;
  bool of_files = false;
  bool best = false;  // of all with this operation, if there are at least two
};

// For FC-Test only, in the order of measuring. Only sets that all results and file systems have
// count, so the means are comparable; there is none of a single set. Empty if a result is
// incomplete or failed.
std::vector<Score> scores_of(std::span<const ReportedResult> results);

}  // namespace filereel
