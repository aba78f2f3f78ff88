// How this folder works: Result and its parts are plain data, declared here. result_members.h lists
// their members once, for reading, writing and the report; result_json.h has the JSON form, with
// what lists cannot express in result_json_read.cc and result_json_write.cc. metrics.h is the table
// of figures for all tables and exports. Functions on whole results are beside it: checks.h warns,
// failures.h explains divergences, packed.h stores histograms. Start with Measurement below and
// Sample in sample.h.
//
// The results of a run, as plain data. The JSON form is in result_json.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/results/plan_record.h"
#include "replay/results/sample.h"
#include "replay/results/volume_description.h"
#include "replay/statistics/summary.h"
#include "traces/workload/sweep.h"

namespace filereel {

// Kinds of jobs (docs/plans.md).
enum class JobKind : std::uint8_t {
  fc_test,   // the steps of FC-Test on a file set
  workload,  // the phases of a recipe, at the points of its sweep
  trace,     // a recorded trace
  count      // of the kinds
};
inline constexpr std::size_t kJobKinds = static_cast<std::size_t>(JobKind::count);

constexpr std::array<JobKind, kJobKinds> job_kinds() {
  std::array<JobKind, kJobKinds> all = {};
  for (std::size_t i = 0; i < kJobKinds; ++i) all[i] = static_cast<JobKind>(i);
  return all;
}

// Properties of a job kind for tables, comparisons and reports.
struct JobKindInfo {
  JobKind kind;
  std::string_view name;           // in results
  std::string_view title, plural;  // in headings and lists: "recorded trace", "recorded traces"
  std::string_view work;           // before the name of its set, or its own: "recipe of"
  std::string_view method;         // sentences for the report
  // Measured by file set: tables have sets and operations, and files are counted instead of calls.
  bool by_set = false;
  bool replays = false;  // one operation, replayed as it was recorded
};
const JobKindInfo& info_of(JobKind kind);

// Names and values, in order.
using Parameters = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::uint32_t kMostRuns = 10'000;  // repetitions

// The required precision of a latency percentile.
struct TailPrecision {
  double percentile = 99.9;
  double width = 0.1;  // of the 95 % interval of its median, as a share of the median

  bool operator==(const TailPrecision&) const = default;
};

// Repeat until every measurement is precise enough, or the time budget is used up.
struct AutoRuns {
  double width = 0.05;      // of the 95 % interval of the median, as a share of the median
  double budget_s = 1800;   // no repetition starts that would probably end later
  std::uint32_t least = 6;  // repetitions before the interval is checked
  std::uint32_t most = 100;
  std::optional<TailPrecision> tail = {};

  bool operator==(const AutoRuns&) const = default;
};

// A job of a plan. Its measurements have its name.
struct JobRecord {
  JobKind kind = JobKind::fc_test;
  std::string name;        // "fc-test", "random-read", "app.reel"
  double scale = 1;        // of file sets, and of the files of recipes
  bool warm = false;       // the caches were not emptied
  Parameters settings;     // other settings, named as in plans: block_size, copy_method, time …
  double overhead_ns = 0;  // see measure_overhead_ns; 0: not measured
  std::vector<SweepAxis> axes;  // of the sweep, each with values
  // What reports find in its measurements: "write-cache" (replay/report/write_cache.h), or "".
  std::string analysis = {};

  bool operator==(const JobRecord&) const = default;
};

// A point of a sweep: ", depth 4, size 8 KiB"; "" without a sweep.
std::string point_text(const Parameters& parameters);

// The display name of a setting: "block size" for "block_size".
std::string words_of(std::string name);

// Whether the volume is in memory: a tmpfs or ramfs, or an image on one. Nothing makes it cold.
bool in_memory(const VolumeDescription& volume);
// The roles of the volumes in memory, each once: "near", "near and far"; "" without any.
std::string roles_in_memory(std::span<const VolumeDescription> volumes);

// "scale 0.5, block size 128 KiB, copy method readwrite, cold caches". `volumes`: those of the
// result, for "in memory" instead of "cold caches"; empty for a plan.
std::string settings_text(const JobRecord& job, std::span<const VolumeDescription> volumes = {});

// A chart or table that a plan requests for its reports (docs/plans.md). Empty lists select
// everything.
struct ReportView {
  std::string title, text;                          // text: a sentence below the title
  std::vector<std::string> jobs, operations, sets;  // names, with * and ? as in file names
  std::vector<std::string> metrics;       // Metric::name; empty: the most significant ones
  std::string form;                       // one of kViewForms; empty: depends on the content
  std::string by;                         // lines: the x axis; empty: the last axis
  std::map<std::string, std::string> at;  // the initial values of other axes

  bool operator==(const ReportView&) const = default;
};
// Axes besides those of sweeps: the job, its phase (operation), its file set.
inline constexpr std::array<std::string_view, 3> kPlainAxes = {"job", "phase", "set"};
inline constexpr std::array<std::string_view, 4> kViewForms = {"bars", "lines", "matrix", "table"};

struct PlanRecord {
  std::string name;
  std::vector<std::string> file_systems;  // requested ones; empty for directories
  std::uint32_t runs = 3;                 // the maximum of all measurements
  std::optional<AutoRuns> auto_runs;
  std::vector<JobRecord> jobs;
  // Of each job and each of its sets; empty in results from before it was stored.
  std::vector<WorkRecord> work;
  std::vector<ReportView> report;
  std::vector<IndexDefinition> indexes;
  // The same for all sessions of one command, and when a run is resumed (plan_digest). "" if the
  // result was not written to a file.
  std::string digest;
};

// The machine that a result was measured on.
struct HostInfo {
  std::string cpu;           // model name
  std::uint32_t cores = 0;   // that filereel may use
  std::uint64_t memory = 0;  // bytes
  std::string kernel;        // release
  std::string governor;      // of the first core; "" if there is none
  std::string clock_source;  // "tsc", "kvm-clock" …
  // Details beyond the release name. Distributions patch a kernel under the same release, and
  // microcode updates contain mitigations that slow down system calls. "" if unknown.
  std::string kernel_build = {}, microcode = {};
  // "physical", "virtual" or "container": what else may use the machine. "" if unknown.
  std::string machine = {};
  // What this process may use: the kernel's list of processors ("0-3"), and the limits of its
  // control groups as in Conditions.
  std::string cpu_set = {};
  std::optional<double> cpu_quota = {};
  std::optional<std::uint64_t> memory_limit = {};
};

struct Spread {
  double median = 0, low = 0, high = 0;  // low and high: the extremes
  // The 95 % confidence interval of the median, see replay/statistics/summary.h; empty if there
  // are too few samples.
  std::optional<Interval> interval = {};
  std::uint32_t outliers = 0;  // see replay/statistics/summary.h
};

// Empty without values.
std::optional<Spread> spread_of(std::span<const double> values, Middle middle = Middle::of_times);

// Rates of the samples that moved data; empty without such samples.
struct Summary {
  std::optional<Spread> mb_per_s;  // 10^6 bytes read and written a second, until rate_time
  // The same of what calls read and wrote (bytes_moved): a copy counts in both.
  std::optional<Spread> read_mb_per_s, written_mb_per_s;
  std::optional<Spread> mb_per_s_elapsed;  // the whole until the last call returned
  std::optional<Spread> files_per_s;       // until rate_time
  // Until the last call returned; not for FC-Test, whose calls are all alike.
  std::optional<Spread> operations_per_s;
  std::optional<Spread> transactions_per_s;  // until the last call returned
};

// The same for one sample; empty if the sample has no such rate.
struct SampleRates {
  std::optional<double> mb_per_s, read_mb_per_s, written_mb_per_s, mb_per_s_elapsed, files_per_s,
      operations_per_s, transactions_per_s;
};

// Parameters of the replay of a recorded trace.
struct ReplayParameters {
  std::string order, pace, engine, verify;  // as on the command line
  std::uint32_t depth = 0;                  // queue depth; 0: as recorded
  std::uint32_t clients = 1;
  double recorded_s = 0;  // duration of the recording, first to last operation; 0: no times
};

// The access pattern of a measurement's reads and writes, see replay/results/block_baseline.h.
struct AccessShape {
  bool random = false;           // most accesses do not start at the end of the last one
  std::uint64_t block_size = 0;  // bytes; the most frequent size
  std::uint32_t depth = 1;       // maximum number of requests in flight
  // Whether latencies are comparable with the block level: all accesses are alike and bypass the
  // cache.
  bool latency_comparable = false;
};

// How a phase ends. Its number of operations is meaningful only if it ends by work.
enum class PhaseEnd : std::uint8_t { work, time };
std::string_view phase_end_name(PhaseEnd end);  // "work", "time"

struct Measurement {
  JobKind kind = JobKind::fc_test;
  std::string workload;  // the job's name
  std::string set, operation, file_system;
  std::string driver;  // of near: "kernel" or the FUSE program
  std::optional<ReplayParameters> replay = {};
  Parameters parameters = {};  // the point of the sweep, by axis
  // Identifies the content of the work at the point, at scale 1 unless it is a file set: 16
  // hexadecimal digits, equal whatever the file is called. "" if unknown, as in older results.
  std::string work_digest = {};
  std::optional<AccessShape> access = {};  // if there is a block baseline
  // How a phase ends; empty in results from before schema version 4.
  std::optional<PhaseEnd> ends = {};
  // Sample::bytes lacks the bytes read (replay/results/bytes_moved.h).
  bool without_bytes_read = false;
  // The page cache was used although the phase asks for direct I/O, which a volume does not support
  // for its accesses. Empty if unknown, as in older results.
  std::optional<bool> without_direct_io = {};
  std::vector<Sample> samples;
  // With `steady`: the main_rates of the rounds before the samples, which are those from the steady
  // state on. It was reached if the first five samples fulfil its rule (steady_state.h).
  std::vector<double> earlier_rounds = {};
  // With `--runs auto`: why the repetitions ended: "precise", "budget" or "most"; otherwise "".
  std::string runs_ended = {};

  Summary summary() const;
  // Of the samples' elapsed or durable times; empty if all samples failed.
  std::optional<Spread> seconds(double Sample::* time) const;
  // The same for a latency percentile of one kind of operation; empty if there was none.
  std::optional<Spread> latency(const std::string& call, double LatencySummary::* percentile) const;
  // The median number of operations of a kind per run. 0 without samples.
  double median_count(const std::string& call) const;
};

// When the rates of content and files end: when everything is durable. After work that wrote
// nothing (replay/results/bytes_moved.h) there is nothing to make durable: then when the last call
// returned.
double Sample::* rate_time(const Measurement& measurement);

// The rate that counts for a measurement, of each sample that has one: MB/s, otherwise files/s,
// otherwise operations/s.
std::vector<double> main_rates(const Measurement& measurement);

// `until`: the rate_time of the measurement.
SampleRates rates_of(const Measurement& measurement, const Sample& sample, double Sample::* until);

// Block-level latency in microseconds, from submission to completion of a request.
struct BlockLatency {
  double mean_us = 0, p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

// The speed of fio on the same device, or on one large file, with the accesses of a measurement.
struct BlockBaseline {
  std::string file_system;       // of the measurements
  std::string on;                // "device" or "file"
  std::string pattern;           // name in fio: "read", "write", "randread", "randwrite"
  std::uint64_t block_size = 0;  // bytes
  std::uint32_t depth = 1;
  double mb_per_s = 0;  // 10^6 bytes a second
  double iops = 0;
  std::string fio;                           // its version
  std::optional<BlockLatency> latency = {};  // empty in results from before schema version 5
};

struct Warning {
  std::string code, text, next_step;
};

// Names that a file system could not store unchanged.
struct EscapedNames {
  std::string file_system, set;
  std::vector<EscapedPath> names;
};

struct Result {
  static constexpr int kSchemaVersion = 8;

  std::string version;  // filereel's
  std::string started;  // ISO 8601, UTC
  // A random name of the run. The results of the volumes that took turns in one run have the same.
  // "" before schema version 7.
  std::string session;
  std::string label, note;      // by the user; the label names the result in comparisons
  bool serials_hidden = false;  // see hide_serials
  HostInfo host;
  PlanRecord plan;
  std::vector<VolumeDescription> volumes;  // one for each role and file system
  bool complete = false;
  std::vector<Warning> warnings;
  std::vector<EscapedNames> escaped_names;
  std::vector<BlockBaseline> baselines;
  std::vector<Measurement> measurements;
  // The control volume, measured in turns with the one of this result; at most one. It has volumes,
  // measurements and warnings of its own, and shares everything else with this result.
  std::vector<Result> control;

  // The job of the measurement; a default one if there is none of that name.
  const JobRecord& job_of(const Measurement& measurement) const;
  // What the measurement did; null if the result does not tell.
  const WorkRecord* work_of(const Measurement& measurement) const;
  // Seconds since the epoch; empty if `started` is not a time.
  std::optional<std::int64_t> started_s() const;
  // Adds a sample to one of the measurements and updates the number of runs.
  void add(Measurement& measurement, Sample sample);
  bool has_samples() const;  // any
  // A result of the same run without volumes, measurements, warnings and control.
  Result of_same_run() const;
  // Adds a warning unless one with the same code and text exists.
  void warn(Warning warning);
  // The same for one of several names, such as a job or a volume: the text begins with the names of
  // all for which it holds, unless it contains the name. "": without a name.
  void warn(Warning warning, const std::string& of);
  // See keep_figures; also of the control.
  void keep_figures();
};

}  // namespace filereel
