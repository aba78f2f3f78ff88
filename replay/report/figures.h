// Figures of a report, and their text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/failures.h"
#include "replay/results/file_systems.h"
#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {

// --- Formats figures for reports.

// With a capital letter, and with an end unless it has a full stop.
std::string sentence_of(std::string text, std::string_view end = ".");

// With its unit, unless it is in the column heading: "123", "1.2 ms", "34 %".
std::string figure_text(Unit unit, double figure);

// The range shown with a median: its 95 % interval, otherwise, of too few samples, the extremes.
Interval range_of(const Spread& spread);

// "34 %".
std::string share_text(double share);

// "5 runs each"; for automatic repetitions their numbers and the reason why they ended.
std::string describe_runs(const Result& result);

// The settings of the jobs, with their names if there are several; jobs with equal settings share a
// text: "fc-test: scale 0.4, block size 128 KiB, cold caches".
std::vector<std::string> describe_settings(const Result& result);

// The name of a measurement without its file system: "create install", "app.reel", "random-read,
// depth 4".
std::string subject_of(const Measurement& measurement);

// "154 of 8481": the number of results of a replay that differ from the trace, of all samples.
std::string divergences_text(const Measurement& measurement);

// The same as a clause: "154 of 8481 results differ in 3 runs".
std::string differing_text(const Measurement& measurement);

// " in 3 runs"; "" for a single one.
std::string in_runs(const Differences& all);

// "4 clients on 2 hosts", "2 to 8 clients on 1 host": of the samples of several clients; "" without
// such samples.
std::string clients_text(std::span<const Measurement* const> measurements);

// The step on a set: "create", "create, threads 4"; preceded by the job's name if that differs from
// its kind's: "cached read".
std::string step_of(const Measurement& measurement);
// "mp3", "cached mp3": a set, with the name of its job unless that is the name of its kind;
// otherwise the job.
std::string title_of(const WorkRecord& work);

// --- Figures of reports beyond the summaries of measurements.

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
