// Two results, or two groups of results, held against each other: plain data, and what makes it.
// docs/compare.md says how it is decided; comparison_json.h and junit_xml.h write it down.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/results/result.h"
#include "replay/statistics/interval.h"

namespace filereel {

enum class Verdict : std::uint8_t { same, faster, slower, cannot_tell };

// "same", "faster", "slower", "cannot tell".
std::string_view verdict_name(Verdict verdict);

// What is compared. Always a time, so that more is slower.
enum class Figure : std::uint8_t {
  durable,        // seconds until everything was on the device: FC-Test
  elapsed,        // seconds until the last call returned: workloads and replays of so much work
  per_operation,  // seconds of elapsed time per operation: phases that end by time
  in_calls,       // seconds spent in calls: replays whose pace, not the volume, sets the time
};

// "time until durable", "time until the last call returned", "time per operation",
// "time in calls".
std::string_view figure_name(Figure figure);

// What is asked of a measurement. One error budget is for all of them together.
enum class Aspect : std::uint8_t {
  time,    // does it take longer?
  tail,    // do its slowest operations take longer?
  stalls,  // does it stall more often?
};

// "time", "tail", "stalls".
std::string_view aspect_name(Aspect aspect);

struct CompareOptions {
  double threshold = 0.02;  // the smallest change of time that matters, as a share
  // The probability that chance alone makes anything slower in a whole comparison, in time, tails
  // and stalls together. It is the same for "faster".
  double false_alarms = 0.01;
  // An operation that takes longer is a stall, in nanoseconds; nothing: see stall_threshold.
  std::optional<std::uint64_t> stall_ns = {};

  // The smallest change of a tail that matters: tails are less steady than times.
  double tail_threshold() const { return std::max(0.1, threshold); }
};

// What says that two measurements are of the same thing.
struct MeasurementKey {
  JobKind kind = JobKind::fc_test;
  std::string workload, set, operation, file_system;
  Parameters parameters;  // a sweep's point, and how a recorded trace was replayed

  auto operator<=>(const MeasurementKey&) const = default;
};

MeasurementKey key_of(const Measurement& measurement);

// "fc-test programs create ext4", "random-read ext4 block=4 KiB": one line, bytes as they are.
// Of recorded traces `without` is left out.
std::string key_text(const MeasurementKey& key, const Parameters& without = {});

// How recorded traces were replayed, as far as all keys of traces say the same; for the keys of
// measurements as of the entries of lists that have one as `key`.
Parameters shared_replay(std::span<const MeasurementKey> keys);
template <class List>
Parameters shared_replay_of(const List& list) {
  std::vector<MeasurementKey> keys;
  for (const auto& one : list) keys.push_back(one.key);
  return shared_replay(keys);
}

struct ComparedSide {
  std::uint32_t samples = 0;              // compared
  std::uint32_t left_out = 0;             // that failed or moved no data
  double median = 0;                      // of the figure, in seconds; 0 without samples
  std::optional<Interval> interval = {};  // 95 %, of the median
};

// What came of one aspect of a measurement.
struct Answer {
  // The new by the base, of one run of each (Hodges-Lehmann): 1.05 is 5 % more. 1 where nothing can
  // be compared.
  double ratio = 1;
  std::optional<Interval> ratio_interval = {};  // 95 %; nothing for too few samples
  std::optional<double> p = {};       // Mann-Whitney, two-sided; nothing where nothing was tested
  std::optional<double> p_holm = {};  // the same, corrected for all that were tested
  Verdict verdict = Verdict::cannot_tell;
  std::string reason = {};  // of "cannot tell", else ""
};

// A percentile of the latencies of one kind of operation, run by run: of the kind for which it
// changed most surely. Answers: of a tail "same" is "no change shown".
struct ComparedTail {
  std::string kind;                  // "read", "write up to 64 KiB"
  double percentile = 99;            // 99 or 99.9
  double base_us = 0, fresh_us = 0;  // medians of the runs
  Answer answer;
};

struct StallSide {
  std::uint64_t stalls = 0, operations = 0;  // of all runs
  double share_of_time = 0;                  // of the time in calls, 0 to 1
};

// Operations of all kinds that took longer than is usual for their kind in the base.
struct ComparedStalls {
  double threshold_us = 0;  // the smallest of those of the kinds that stalled, else of all kinds
  StallSide base, fresh;
  Answer answer;
};

struct ComparedMeasurement {
  MeasurementKey key;
  Figure figure = Figure::durable;
  ComparedSide base, fresh;
  Answer time;
  std::optional<ComparedTail> tail = {};      // where there are operations enough for a percentile
  std::optional<ComparedStalls> stalls = {};  // where there are histograms
  Verdict verdict = Verdict::cannot_tell;     // of all aspects: the worst that is sure
  Aspect aspect = Aspect::time;               // that decided it
  std::string evidence = {};  // "41 stalls over 50 ms in 10 runs, 0 before"; of "same" and "cannot
                              // tell" ""
  std::optional<std::uint32_t> runs_needed = {};  // about, on each side, where more runs would help

  const std::string& reason() const { return time.reason; }  // of "cannot tell"
};

// Of tails and stalls only where there are any. `Measurement`: ComparedMeasurement, const or not.
template <class Measurement>
auto& answer_of(Measurement& one, Aspect aspect) {
  return aspect == Aspect::tail     ? one.tail->answer
         : aspect == Aspect::stalls ? one.stalls->answer
                                    : one.time;
}

// "slower (stalls)", "faster", "cannot tell".
std::string verdict_text(const ComparedMeasurement& one);

// A drive is another one by its model, serial number or capacity. Of a comparison across file
// systems its driver and mount options belong to the file system.
enum class ChangeKind : std::uint8_t { firmware, file_system, drive, other };

// "firmware", "file system", "drive", "other".
std::string_view change_kind_name(ChangeKind kind);

// Something other than the figures that is not the same on both sides.
struct Change {
  ChangeKind kind = ChangeKind::other;
  std::string what;         // "firmware", "kernel", "mount options of ext4 (near)" …
  std::string base, fresh;  // several values within a group: joined with ", "; "-" for none
};

// The one file system of each side, where they differ: measurements match whatever it is.
struct CrossedFileSystems {
  std::string base, fresh;
};
std::optional<CrossedFileSystems> crossed_file_systems(std::span<const Result> base,
                                                       std::span<const Result> fresh);

struct ResultComparison {
  // Labels of the results, else when they were started; several joined with ", ".
  std::string base_name, fresh_name;
  // The measurements' keys then have no file system.
  std::optional<CrossedFileSystems> across = {};
  CompareOptions options;
  std::vector<ComparedMeasurement> measurements;  // in the order of the base
  std::vector<MeasurementKey> only_base, only_fresh;
  // Slower if any measurement is; else faster if any is; else same if all are.
  Verdict overall = Verdict::cannot_tell;
  std::vector<Change> changes;    // firmware first, then the file system and the drives
  std::vector<Warning> warnings;  // incomplete results, changes that make the cause doubtful …
  bool complete = true;           // all results were

  std::size_t count(Verdict verdict) const;
  bool regressed() const { return overall == Verdict::slower; }
  // Whether something could not be told: of a measurement, or because a side does not have it.
  bool undecided() const;
};

// The samples of a group are pooled. Neither group may be empty. By file system, unless each side
// has a single one and they differ.
ResultComparison compare_results(std::span<const Result> base, std::span<const Result> fresh,
                                 const CompareOptions& options = {});

}  // namespace filereel
