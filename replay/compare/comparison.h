// How this folder works: groups of results are brought to measurements with the same work
// (groups.h), and each measurement of each group to the samples that count (compared_figures.h).
// compare_results() in comparison.cc asks for each measurement whether time, tail (tails.h) and
// stalls changed; the evidence for an answer comes from sessions.h, and verdict.h decides all
// answers together, within one error budget. ranking.h, index.h, prediction.h and self_comparison.h
// answer other questions from the same parts. Only results are needed, nothing is measured. Start
// with compare_matching in comparison.cc, then the top of sessions.h.
//
// Comparison of two results or two groups of results, as plain data. docs/compare.md describes the
// method; comparison_formats.h writes it.
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
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {

enum class Verdict : std::uint8_t { same, faster, slower, cannot_tell };

// "same", "faster", "slower", "cannot tell".
std::string_view verdict_name(Verdict verdict);

// The compared figure. Always a time, so more is slower.
enum class Figure : std::uint8_t {
  durable,        // seconds until everything was on the device: fixed work that writes
  elapsed,        // seconds until the last call returned: fixed work that only reads, and replays
  per_operation,  // seconds of elapsed time per operation: time-limited phases
  in_calls,       // seconds in calls: replays timed by their pace, not the volume
};

// "time until durable", "elapsed time", "time per operation", "time in calls".
std::string_view figure_name(Figure figure);

// The tested aspects of a measurement. They share one error budget.
enum class Aspect : std::uint8_t {
  time,    // does it take longer?
  tail,    // do its slowest operations take longer?
  stalls,  // does it stall more often?
};

// "time", "tail", "stalls".
std::string_view aspect_name(Aspect aspect);

// Where the spread between sessions is known from, the best first; see sessions.h.
enum class Basis : std::uint8_t { in_turns, control, sessions, history, assumption };

// "in turns", "control", "sessions", "history", "assumption".
std::string_view basis_name(Basis basis);

// The names of 95 % intervals: of those that contain the spread which sessions are assumed to have,
// and of those that rest on measured figures alone.
inline constexpr std::string_view kBetweenSessions = "95 %, sessions";
inline constexpr std::string_view kMeasuredInterval = "95 % interval";

// The change of the machine between two sides, as a logarithm, from a control (control.h).
struct MachineChange {
  double typical = 0;  // of all measurements
  double error = 0;    // its standard error
  double spread = 0;   // standard deviation between measurements, without that of their runs
};

// What the control volume says about the machine.
struct ControlUse {
  bool used = false;
  std::string obstacle = {};  // why it is not used; "" if it is, or if no result has one
  std::optional<MachineChange> machine = {};  // empty if nothing was measured on both controls

  // Of the control from base to new: 1.18 is 18 % slower.
  double change() const;
  // Whether it changed by more than chance can explain.
  bool changed() const;
};

struct CompareOptions {
  double threshold = 0.02;  // the smallest change of time that matters, as a share
  // The promised limit of the probability that a whole comparison calls anything slower that is
  // not, over time, tails and stalls together. The same applies to "faster".
  double false_alarms = kFalseAlarms;
  // The threshold for stalls, in nanoseconds; empty: see stall_threshold.
  std::optional<std::uint64_t> stall_ns = {};

  // The largest two-sided p, corrected, of a verdict.
  double level() const { return kLevelOfPromise * false_alarms; }

  // The smallest change of a tail that matters. Tails vary more than times.
  double tail_threshold() const { return std::max(0.1, threshold); }
};

// Identifies a measurement. Equal keys are measurements of the same thing.
struct MeasurementKey {
  JobKind kind = JobKind::fc_test;
  std::string workload, set, operation, file_system;
  Parameters parameters;  // a sweep's point, and the replay parameters of a recorded trace

  auto operator<=>(const MeasurementKey&) const = default;
};

MeasurementKey key_of(const Measurement& measurement);

// "fc-test programs create ext4", "random-read ext4 block=4 KiB": one line, unescaped. For recorded
// traces, leaves out the parameters in `without`.
std::string key_text(const MeasurementKey& key, const Parameters& without = {});

// Without any parameters of replays: for sentences.
std::string key_name(const MeasurementKey& key);

// The replay parameters that all recorded traces share, from keys or from list entries with a
// member `key`.
Parameters shared_replay(std::span<const MeasurementKey> keys);
template <class List>
Parameters shared_replay_of(const List& list) {
  std::vector<MeasurementKey> keys;
  for (const auto& one : list) keys.push_back(one.key);
  return shared_replay(keys);
}

// The parameters of its replay that are not among the shared ones.
Parameters own_replay(const MeasurementKey& key, const Parameters& shared);

struct ComparedSide {
  std::uint32_t samples = 0;   // number of compared samples
  std::uint32_t left_out = 0;  // samples that failed or moved no data
  double median = 0;           // of the figure, in seconds; 0 without samples
  // The median of the operations per second, if the figure is the time per operation.
  std::optional<double> operations_per_s = {};
  // 95 %, of the median, with the spread between sessions as far as it is assumed (sessions.h).
  std::optional<Interval> interval = {};
};

// The result for one aspect of a measurement.
struct AspectResult {
  // Ratio of new to base: 1.05 is 5 % more. 1 if nothing can be compared.
  double ratio = 1;
  // 95 %, with the spread between sessions; empty with too few samples.
  std::optional<Interval> ratio_interval = {};
  Basis basis = Basis::assumption;
  std::optional<double> p = {};       // two-sided; empty if not tested
  std::optional<double> p_holm = {};  // the same, corrected for all tests
  // The smallest change that this comparison could have shown, as a share of longer time; shorter
  // time by the same factor. Empty if it could not have shown any, or if nothing was tested.
  std::optional<double> provable = {};
  Verdict verdict = Verdict::cannot_tell;
  // With "cannot tell": the 95 % interval lies beyond the threshold, but the change is not proven.
  std::optional<Verdict> indicated = {};
  std::string reason = {};  // of "cannot tell", otherwise ""

  // The same as a change: of longer time (0.98 is 98 % more), or of shorter time (-0.49 is 49 %
  // less) if the interval allows only that. Empty for a change that is shown: it may be smaller, as
  // one proof passes its error budget to the others.
  std::optional<double> provable_change() const;
};

// A latency percentile of one kind of operation, by run, for the kind with the most certain change.
// For tails, the verdict "same" means that no change was shown.
struct ComparedTail {
  std::string kind;                  // "read", "write up to 64 KiB"
  double percentile = 99;            // 99 or 99.9
  double base_us = 0, fresh_us = 0;  // medians of the runs
  AspectResult answer;
};

struct StallSide {
  std::uint64_t stalls = 0, operations = 0;  // over all runs
  double share_of_time = 0;                  // of the time in calls, 0 to 1
};

// Stalls of all kinds of operations, relative to the latencies of the kind in the base.
struct ComparedStalls {
  double threshold_us = 0;  // the smallest of the kinds that stalled, otherwise of all kinds
  StallSide base, fresh;
  AspectResult answer;
};

struct ComparedMeasurement {
  MeasurementKey key;
  Figure figure = Figure::durable;
  bool comparable = true;  // both sides did the same work, and have samples of it
  bool undone = false;     // a side has failed calls
  ComparedSide base, fresh;
  AspectResult time;
  std::optional<ComparedTail> tail = {};      // if there are enough operations for a percentile
  std::optional<ComparedStalls> stalls = {};  // if there are histograms
  Verdict verdict = Verdict::cannot_tell;     // over all aspects: the worst certain one
  Aspect aspect = Aspect::time;               // that decided the verdict
  std::string evidence = {};  // "41 stalls over 50 ms in 10 runs, 0 before"; "" for "same" and
                              // "cannot tell"
  // With "cannot tell": on each side, estimated to decide; empty if no number would.
  std::optional<std::uint32_t> more_runs = {};

  // The same as the number of runs of each side; without an interval, the least that gives one.
  std::optional<std::uint32_t> runs_needed() const;

  // Of "cannot tell": that of the aspect which indicates a change, otherwise of the time.
  const std::string& reason() const;
  // With "cannot tell": the change that is indicated by any aspect, the worst one first.
  std::optional<Verdict> indicated() const;
  Aspect indicating() const;  // that aspect, if there is one
};

// For tails and stalls only if there are any. `Measurement`: ComparedMeasurement, const or not.
template <class Measurement>
auto& answer_of(Measurement& measurement, Aspect aspect) {
  return aspect == Aspect::tail     ? measurement.tail->answer
         : aspect == Aspect::stalls ? measurement.stalls->answer
                                    : measurement.time;
}

// "slower (stalls)", "faster", "slower indicated", "slower indicated (tail)", "cannot tell"; "not
// compared" if the work differs.
std::string verdict_text(const ComparedMeasurement& compared);

// Why a measurement is undecided, and what should decide: "indicated, but not proven; about 5 more
// runs on each side should decide".
std::string undecided_text(const ComparedMeasurement& compared);

// A drive is identified by model, serial number and capacity. In a comparison across file systems,
// driver and mount options belong to the file system.
enum class ChangeKind : std::uint8_t { firmware, file_system, drive, other };

// "firmware", "file system", "drive", "other".
std::string_view change_kind_name(ChangeKind kind);

// A difference between the two sides other than the figures.
struct Change {
  ChangeKind kind = ChangeKind::other;
  std::string what;         // "firmware", "kernel", "mount options of ext4 (near)" …
  std::string base, fresh;  // several values within a group are joined with ", "; "-" for none
};

// The single file system of each side, if they differ. Measurements then match regardless of the
// file system.
struct CrossedFileSystems {
  std::string base, fresh;
};
std::optional<CrossedFileSystems> crossed_file_systems(std::span<const Result> base,
                                                       std::span<const Result> fresh);

struct ResultComparison {
  // Labels of the results, otherwise their start times; several are joined with ", ".
  std::string base_name, fresh_name;
  // If set, the measurements' keys have no file system.
  std::optional<CrossedFileSystems> across = {};
  CompareOptions options;
  std::vector<ComparedMeasurement> measurements;  // in the order of the base
  std::vector<MeasurementKey> only_base, only_fresh;
  ControlUse control;
  std::string machine;  // of the new results, see HostInfo::machine
  // Slower if any measurement is, otherwise faster if any is, otherwise same if all are.
  Verdict overall = Verdict::cannot_tell;
  std::vector<Change> changes;    // firmware first, then the file system and the drives
  std::vector<Warning> warnings;  // incomplete results, changes with another possible cause …
  bool complete = true;           // all results are complete

  // Whether any measurement did the same work on both sides.
  bool comparable() const;
  std::size_t count(Verdict verdict) const;
  // Measurements of which a change is indicated, but not shown.
  std::size_t indicated() const;
  bool regressed() const { return overall == Verdict::slower; }
  // Whether a measurement has the verdict "cannot tell" or is missing on one side.
  bool undecided() const;
};

// The level that evidence holds for and its basis, with the numbers of several: "between sessions,
// with a control volume". `machine`: HostInfo::machine.
std::string level_text(std::span<const Basis> bases, const std::string& machine);

// That of a comparison; "" if nothing was compared.
std::string level_of(const ResultComparison& comparison);

// The name of the intervals of its ratios: one that holds for all of them.
std::string_view interval_name(const ResultComparison& comparison);

// The level of the promise and its basis, one sentence without a full stop: "at most 1 false alarm
// in 100 comparisons between sessions, with a control volume".
std::string promise_text(const ResultComparison& comparison);

// How the changes are calculated, if one of them is not the ratio of its medians; "" if all are.
std::string basis_of_changes(const ResultComparison& comparison);

// "the machine became 18 % slower between the sessions (control volume); corrected"; "" without a
// control that is used.
std::string control_text(const ControlUse& control);

// Compares two groups of results, each with one session or more; neither may be empty. `earlier`:
// groups of further results of the same volume, from which the spread between sessions is known;
// within a group, nothing else differs. Compares by file system, unless each side has a single one
// and they differ.
ResultComparison compare_results(std::span<const Result> base, std::span<const Result> fresh,
                                 const CompareOptions& options = {},
                                 std::span<const std::vector<Result>> earlier = {});

}  // namespace filereel
