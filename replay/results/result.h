// What a run measured, as plain data. The JSON form is in result_json.h.
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

#include "replay/results/index_definition.h"
#include "replay/statistics/interval.h"
#include "replay/volumes/name_rules.h"
#include "replay/volumes/volume.h"
#include "traces/workload/sweep.h"

namespace filereel {

// What kinds of work there are (docs/plans.md).
enum class JobKind : std::uint8_t {
  fc_test,   // the steps of FC-Test on a file set
  workload,  // the phases of a recipe, at the points of its sweep
  trace,     // a recorded trace
};
inline constexpr std::size_t kJobKinds = 3;

// What tables, comparisons and reports must know of a kind.
struct JobKindInfo {
  std::string_view name;  // in results
  // Measured file set by file set: tables have sets and operations, the figure is the time until
  // all is durable, and files are what is counted, not calls.
  bool by_set = false;
  bool replays = false;  // one operation, done again as it was recorded
};
const JobKindInfo& info_of(JobKind kind);

// Names and values, in their order.
using Parameters = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::uint32_t kMostRuns = 10'000;  // repetitions

// How precise a percentile of latencies is to be.
struct TailPrecision {
  double percentile = 99.9;
  double width = 0.1;  // of the 95 % interval of its median, as a share of the median
};

// Repetitions go on until every measurement is precise enough, or the time is over.
struct AutoRuns {
  double width = 0.05;      // of the 95 % interval of the median, as a share of the median
  double budget_s = 1800;   // no repetition begins that would probably end after that
  std::uint32_t least = 5;  // repetitions before the interval is looked at
  std::uint32_t most = 100;
  std::optional<TailPrecision> tail = {};
};

// A job of a plan. Its measurements have its name.
struct JobRecord {
  JobKind kind = JobKind::fc_test;
  std::string name;        // "fc-test", "random-read", "app.reel"
  double scale = 1;        // of file sets, and of what recipes work on
  bool warm = false;       // the caches were left as they were
  Parameters settings;     // what else was set, named as in plans: block_size, copy_method, time …
  double overhead_ns = 0;  // see measure_overhead_ns; 0: not measured
  std::vector<SweepAxis> axes;  // that were swept, none without values

  bool operator==(const JobRecord&) const = default;
};

// A point of a sweep: ", depth 4, size 8 KiB"; "" where nothing was swept.
std::string point_text(const Parameters& parameters);

// A setting's name for people: "block_size" is "block size".
std::string words_of(std::string name);

// "scale 0.5, block size 128 KiB, copy method readwrite, cold caches".
std::string settings_text(const JobRecord& job);

// A chart or table that a plan asks of its reports (docs/plans.md). Empty lists choose everything.
struct ReportView {
  std::string title, text;                          // text: a sentence below the title
  std::vector<std::string> jobs, operations, sets;  // names, with * and ? as in file names
  std::vector<std::string> metrics;                 // Metric::name; empty: what says most
  std::string form;                                 // one of kViewForms; empty: by what is shown
  std::string by;                         // lines: the axis that goes across; empty: the last one
  std::map<std::string, std::string> at;  // the values of other axes that are shown first

  bool operator==(const ReportView&) const = default;
};
// Axes besides those of sweeps: the job, its phase (operation), its file set.
inline constexpr std::array<std::string_view, 3> kPlainAxes = {"job", "phase", "set"};
inline constexpr std::array<std::string_view, 4> kViewForms = {"bars", "lines", "matrix", "table"};

struct PlanRecord {
  std::string name;
  std::vector<std::string> file_systems;  // that were asked for; none on directories
  std::uint32_t runs = 3;                 // the most repetitions that any measurement has
  std::optional<AutoRuns> auto_runs;
  std::vector<JobRecord> jobs;
  std::vector<ReportView> report;
  std::vector<IndexDefinition> indexes;
};

// The machine that a result was measured on.
struct HostInfo {
  std::string cpu;           // model name
  std::uint32_t cores = 0;   // online
  std::uint64_t memory = 0;  // bytes
  std::string kernel;        // release
  std::string governor;      // of the first core; "" where there is none
  std::string clock_source;  // "tsc", "kvm-clock" …
  // What a release's name leaves open: distributions patch a kernel under the same release, and
  // microcode brings cures that make system calls slower. "" where there is none.
  std::string kernel_build = {}, microcode = {};
};

// Reads or writes of one class of sizes.
struct SizeLatency {
  std::uint64_t up_to = 0;  // bytes, and more than the class below; 0: all that are larger
  double max_us = 0, total_us = 0;
  std::string histogram = {};  // see LatencySummary
};

struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes = 0;
  // Microseconds; to 0.8 % (replay/measure/histogram.h), the maximum exactly.
  double p50_us = 0, p90_us = 0, p95_us = 0, p99_us = 0, p999_us = 0, p9999_us = 0, max_us = 0;
  double total_us = 0;
  // All latencies (replay/results/packed.h). "" where there are several sizes, and in results from
  // before schema version 4.
  std::string histogram = {};
  std::vector<SizeLatency> sizes = {};  // of reads and writes with several
};

// One of the slowest operations of a sample.
struct SlowRecord {
  std::string operation, path;
  std::uint64_t offset = 0, length = 0;
  std::uint32_t thread = 0;
  double at_s = 0;                        // its begin, or when it was due, since the sample's
  double latency_us = 0;                  // as in histograms
  std::optional<double> service_us = {};  // of the call itself, where that is another time
  std::uint64_t position = 0;             // in the trace; of a workload: in its thread
};

// A sample over time, in equal intervals: TimeGrid, packed (replay/results/packed.h).
struct Course {
  double interval_s = 0;
  std::uint32_t intervals = 0;  // from the sample's begin
  // By interval and, of operations, by bin of latency; zeros at the end are left out.
  std::string operations, bytes, syncs;
};

struct DivergenceExample {
  std::uint64_t position = 0;
  std::uint32_t thread = 0;
  std::string operation, path;
  std::int64_t expected = 0, result = 0;  // a failed call is -errno
  std::string kind_of = {};               // divergence_class_name
};

// A tree on a volume, held against the one that should be there.
struct TreeDifference {
  std::string path;
  std::string text;  // "is missing", "has 12 bytes instead of 40" …
};

struct TreeComparison {
  static constexpr std::size_t kExamples = 8;

  std::uint64_t entries = 0;             // that should be there
  std::uint64_t differences = 0;         // of paths, kinds and sizes
  std::uint64_t left_out = 0;            // links that the file system cannot hold
  std::vector<TreeDifference> examples;  // the first differences in the order of paths
};

// What only replays of recorded traces have.
struct ReelSample {
  std::uint64_t bytes_read = 0, bytes_written = 0, bytes_copied = 0;  // the last inside the kernel
  std::map<std::string, std::uint64_t> divergences;  // by divergence_class_name; those there are
  std::uint64_t unverified = 0;                      // operations that were not compared
  std::uint64_t refused = 0;                         // never executed: device nodes
  bool ended_early = false;                          // at a divergence: it is not the whole trace
  std::uint64_t waits = 0;                           // between threads, to keep the order
  std::optional<LatencySummary> lateness;            // paced replays
};

// What else went on while a sample was taken; nothing where the machine does not say.
struct Conditions {
  // Shares of all processors' time, 0 to 1: taken by other programs, and by the host of a virtual
  // machine.
  std::optional<double> other_cpu, stolen_cpu;
  std::optional<double> cpu_mhz_low, cpu_mhz_high;  // of the cores, at the sample's begin and end
  // Bytes a second that went through the device shortly before, when filereel asked for none.
  std::optional<double> idle_device_bytes_per_s;
  std::optional<double> volume_used;  // share of near that was taken at the end, 0 to 1
};

// One measured repetition.
struct Sample {
  std::uint32_t run = 0;  // from 1
  double started_s = 0;   // since the run began, on the same clock
  double elapsed_s = 0;   // when the last call returned
  double durable_s = 0;   // when everything was on the device; counts from the same start
  std::uint64_t bytes = 0, files = 0, operations = 0;
  std::optional<std::uint64_t> transactions;  // of a database server whose files were replayed
  double cpu_user_s = 0, cpu_system_s = 0;    // of filereel, until elapsed_s
  double cpu_driver_s = 0;                    // of FUSE drivers, until durable_s
  std::optional<std::uint64_t> device_bytes_read, device_bytes_written;  // near and far together
  std::string cold_method;
  std::optional<double> cached_before;  // share of the content that the caches held, 0 to 1
  bool moved_no_data = false;           // a copy whose blocks are shared with the original
  std::uint64_t divergences = 0;
  std::vector<DivergenceExample> examples;
  // By operation name. Of paced operations the time from when they were due; `service` then has the
  // time in the call itself.
  std::map<std::string, LatencySummary> latency, service;
  std::vector<SlowRecord> slowest;  // the slowest first
  std::optional<Course> course;     // nothing in results from before schema version 4
  Conditions conditions;
  std::optional<TreeComparison> tree;  // where it was verified
  std::optional<ReelSample> reel;
};

// Whether the sample has no figures: a call failed, or a replay ended early. A replay that went its
// own way has figures all the same, and says what differed.
bool has_failed(const Sample& sample);

struct Spread {
  double median = 0, low = 0, high = 0;  // low and high: the extremes
  // In which the median lies with 95 % confidence, see replay/statistics/bootstrap.h; nothing for
  // fewer samples than that needs.
  std::optional<Interval> interval = {};
  std::uint32_t outliers = 0;  // see replay/statistics/outliers.h
};

// Nothing without values.
std::optional<Spread> spread_of(std::span<const double> values);

// Of the samples that moved data; nothing where there is none.
struct Summary {
  std::optional<Spread> mb_per_s;          // 10^6 bytes of content a second until durable
  std::optional<Spread> mb_per_s_elapsed;  // the same until the last call returned
  std::optional<Spread> files_per_s;       // until durable
  // Until the last call returned; not of FC-Test, whose calls are all alike.
  std::optional<Spread> operations_per_s;
  std::optional<Spread> transactions_per_s;  // until the last call returned
};

// The same of one sample; nothing for what it has no figure of.
struct SampleRates {
  std::optional<double> mb_per_s, mb_per_s_elapsed, files_per_s, operations_per_s,
      transactions_per_s;
};

// How a recorded trace was replayed.
struct ReplayParameters {
  std::string order, pace, engine, verify;  // as on the command line
  std::uint32_t depth = 0;                  // of queues; 0: as recorded
  std::uint32_t clients = 1;
  double recorded_s = 0;  // from its first operation to its last when it was recorded; 0: no times
};

// What the reads and writes of a measurement are to a device, see replay/results/block_baseline.h.
struct AccessShape {
  bool random = false;           // most do not go on where the last one ended
  std::uint64_t block_size = 0;  // bytes, of the most frequent ones
  std::uint32_t depth = 1;       // requests that may be in flight together
  // Whether latencies compare with the block level's: all accesses are alike and go past the cache.
  bool latency_comparable = false;
};

// What ends a phase: the number of operations that it makes says something only where work does.
enum class PhaseEnd : std::uint8_t { work, time };
std::string_view phase_end_name(PhaseEnd end);  // "work", "time"

struct Measurement {
  JobKind kind = JobKind::fc_test;
  std::string workload;  // the job's name
  std::string set, operation, file_system;
  std::string driver;  // of near: "kernel" or the FUSE program
  std::optional<ReplayParameters> replay = {};
  Parameters parameters = {};              // the point of the job's sweep, by axis
  std::optional<AccessShape> access = {};  // where there is a block baseline
  // Whether a phase ends by time or with its work; nothing in results from before schema version 4.
  std::optional<PhaseEnd> ends = {};
  std::vector<Sample> samples;
  // Of `--runs auto`: why there are no more samples: "precise", "budget" or "most"; else "".
  std::string runs_ended = {};

  Summary summary() const;
  // Of the samples' elapsed or durable times; nothing without samples that did not fail.
  std::optional<Spread> seconds(double Sample::* time) const;
  // The same for a percentile of the latency of one kind of operation; nothing if there was none.
  std::optional<Spread> latency(const std::string& call, double LatencySummary::* percentile) const;
  // Operations of a kind in a usual run: the median. 0 without samples.
  double usual_count(const std::string& call) const;
};

SampleRates rates_of(const Measurement& measurement, const Sample& sample);

// Latency at block level in microseconds, from the submission of a request to its completion.
struct BlockLatency {
  double mean_us = 0, p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

// What fio reaches on the same device, or on one large file, with the accesses of a measurement.
struct BlockBaseline {
  std::string file_system;       // that the measurements are of
  std::string on;                // "device" or "file"
  std::string pattern;           // as fio calls it: "read", "write", "randread", "randwrite"
  std::uint64_t block_size = 0;  // bytes
  std::uint32_t depth = 1;
  double mb_per_s = 0;  // 10^6 bytes a second
  double iops = 0;
  std::string fio;                           // its version
  std::optional<BlockLatency> latency = {};  // nothing in results from before schema version 5
};

struct Warning {
  std::string code, text, next_step;
};

// Names that a file system could not hold as they are.
struct EscapedNames {
  std::string file_system, set;
  std::vector<EscapedPath> names;
};

struct Result {
  static constexpr int kSchemaVersion = 5;

  std::string version;          // filereel's
  std::string started;          // ISO 8601, UTC
  std::string label, note;      // the user's words; the label names the result in comparisons
  bool serials_hidden = false;  // see hide_serials
  HostInfo host;
  PlanRecord plan;
  std::vector<VolumeDescription> volumes;  // one for each role and file system
  bool complete = false;
  std::vector<Warning> warnings;
  std::vector<EscapedNames> escaped_names;
  std::vector<BlockBaseline> baselines;
  std::vector<Measurement> measurements;

  // The job that the measurement is of; one with nothing set if there is none of that name.
  const JobRecord& job_of(const Measurement& measurement) const;
  // Adds a sample to one of the measurements, and counts its repetition.
  void add(Measurement& measurement, Sample sample);
  // Adds a warning unless the same code and text stand there already.
  void warn(Warning warning);
};

}  // namespace filereel
