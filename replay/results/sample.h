// A sample: one measured repetition, as plain data. Its latencies are complete histograms; packed.h
// has their stored form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// Reads or writes of one size class.
struct SizeLatency {
  std::uint64_t up_to = 0;  // bytes; larger than the class below; 0: all larger sizes
  double max_us = 0, total_us = 0;
  std::string histogram = {};  // see LatencySummary
};

struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes = 0;
  // Microseconds, to 0.8 % (replay/measure/histogram.h); the maximum is exact.
  double p50_us = 0, p90_us = 0, p95_us = 0, p99_us = 0, p999_us = 0, p9999_us = 0, max_us = 0;
  double total_us = 0;
  // All latencies (replay/results/packed.h). "" if there are several sizes, and in results from
  // before schema version 4.
  std::string histogram = {};
  std::vector<SizeLatency> sizes = {};  // of reads and writes with several size classes
};

// One of the slowest operations of a sample.
struct SlowRecord {
  std::string operation, path;
  std::uint64_t offset = 0, length = 0;
  std::uint32_t thread = 0;
  double at_s = 0;                        // its start, or scheduled start, since the sample's start
  double latency_us = 0;                  // as in histograms
  std::optional<double> service_us = {};  // of the call itself, if different
  std::uint64_t position = 0;             // in the trace; in workloads: in its thread
};

// A sample over time, in equal intervals: a packed TimeGrid (replay/results/packed.h).
struct Course {
  double interval_s = 0;
  std::uint32_t intervals = 0;  // from the start of the sample
  // By interval and, for operations, by latency bin; trailing zeros are left out.
  std::string operations, bytes, syncs;
};

// The bytes read and written over time, in equal intervals, of jobs with an analysis
// (JobRecord::analysis). Unlike those of a course, the intervals have the same length in steps of
// any duration. What came after the last whole interval is the rest of Sample::bytes and elapsed_s.
struct RateSeries {
  double interval_s = 0;
  std::uint64_t intervals = 0;
  std::string bytes;  // pack_numbers; trailing zeros are left out
};

struct DivergenceExample {
  std::uint64_t position = 0;
  std::uint32_t thread = 0;
  std::string operation, path;
  std::int64_t expected = 0, result = 0;  // -errno if the call failed; see Divergence
  std::string divergence_class = {};      // divergence_class_name
};

// Calls of one kind that failed with one error on one volume, although they should have succeeded.
struct FailedCalls {
  std::string volume, operation;  // role_name, and the name of the operation
  std::string error;              // "EINVAL", or kCutShort; kNoSpaceLeft may follow
  std::uint64_t count = 0;

  // Instead of an error: a call that moved less than it should.
  static constexpr std::string_view kCutShort = "a part of the data";
};

// A difference between the tree on a volume and the expected one.
struct TreeDifference {
  std::string path;
  std::string text;  // "is missing", "has 12 bytes instead of 40" …
};

struct TreeComparison {
  static constexpr std::size_t kExamples = 8;

  std::uint64_t entries = 0;             // expected
  std::uint64_t differences = 0;         // of paths, kinds and sizes
  std::uint64_t left_out = 0;            // links that the file system cannot hold
  std::vector<TreeDifference> examples;  // the first differences, ordered by path
};

// The part of a sample that only replays of recorded traces have.
struct ReelSample {
  std::uint64_t bytes_read = 0, bytes_written = 0, bytes_copied = 0;  // copied inside the kernel
  std::map<std::string, std::uint64_t> divergences;  // by divergence_class_name; nonzero only
  std::uint64_t unverified = 0;                      // operations whose results were not compared
  std::uint64_t refused = 0;                         // operations that were not executed
  std::map<std::string, std::uint64_t> refusals;     // the same by what they would change
  bool ended_early = false;                          // at a divergence, before the end of the trace
  std::uint64_t waits = 0;                           // between threads, to preserve the order
  std::optional<LatencySummary> lateness;            // paced replays
};

// Conditions on the machine during a sample; empty if the machine does not report them.
struct Conditions {
  // Shares of all CPU time, 0 to 1: used by other programs, and by the host of a virtual machine.
  std::optional<double> other_cpu, stolen_cpu;
  std::optional<double> cpu_mhz_low, cpu_mhz_high;  // of the cores, at start and end
  // Bytes per second that went through the device shortly before, without requests of filereel.
  std::optional<double> idle_device_bytes_per_s;
  std::optional<double> volume_used;  // used share of near at the end, 0 to 1
  // Of the control groups of filereel: the tightest quota, in cores (0: none), its periods during
  // the sample, in how many of them filereel had to wait for the next one, and how long, over all
  // processors; bytes of memory (0: no limit).
  std::optional<double> cpu_quota = {}, cpu_periods = {}, cpu_throttled_periods = {},
                        cpu_throttled_s = {}, memory_limit = {};
  // Share of the time in which some task of the control group, or of the machine, waited for CPU,
  // I/O or memory.
  std::optional<double> cpu_pressure = {}, io_pressure = {}, memory_pressure = {};
  // How often filereel was stopped (SIGSTOP, Ctrl-Z) or the machine suspended. Empty also if never.
  std::optional<double> stops = {};
};

// The part of one client in a sample of several (docs/clients.md).
struct ClientFigures {
  std::string host;
  // From the earliest start of any client, on synchronised clocks.
  double start_s = 0;
  double elapsed_s = 0, durable_s = 0;  // from its own start
  std::uint64_t bytes = 0, files = 0, operations = 0;
  // Over time from its own start, packed (replay/results/packed.h): bytes and operations by
  // interval.
  double interval_s = 0;
  std::string bytes_course = {}, operations_course = {};
};

// The part of a sample that only runs with several clients have.
struct ClientsSample {
  // The start of the last client after that of the first, each as planned (--stagger).
  double start_skew_us = 0;
  double clock_error_us = 0;  // of the synchronised clocks, at most; 0 on a single machine
  // When the first client ended, from the earliest start, and the work of all clients by then,
  // which is known to an interval of the course.
  double first_ended_s = 0;
  std::uint64_t first_ended_bytes = 0, first_ended_files = 0, first_ended_operations = 0;
  std::vector<ClientFigures> each;  // by rank
};

// One measured repetition.
struct Sample {
  std::uint32_t run = 0;  // from 1
  double started_s = 0;   // from the start of the session
  double elapsed_s = 0;   // until the last call returned
  double durable_s = 0;   // until everything was on the device
  // Bytes read and written: a copy counts its content once. FC-Test counts holes, too.
  std::uint64_t bytes = 0;
  std::uint64_t files = 0, operations = 0;
  std::optional<std::uint64_t> transactions;  // of a replayed database server
  double cpu_user_s = 0, cpu_system_s = 0;    // of filereel, until elapsed_s
  double cpu_driver_s = 0;                    // of FUSE drivers, until durable_s
  // filereel's own time for lookups of directories, summed over threads; part of no latency. Empty
  // if unknown.
  std::optional<double> lookup_s;
  std::optional<std::uint64_t> device_bytes_read, device_bytes_written;  // near and far together
  std::string cold_method;
  std::optional<double> cached_before;  // share of the content in the caches, 0 to 1
  bool moved_no_data = false;           // a copy that shares its blocks with the original
  std::uint64_t divergences = 0;
  std::vector<DivergenceExample> examples;
  std::vector<FailedCalls> failed_calls = {};
  // By operation name. Latencies of paced operations count from their scheduled time; `service`
  // then has the time in the call itself.
  std::map<std::string, LatencySummary> latency, service;
  std::vector<SlowRecord> slowest;  // the slowest first
  std::optional<Course> course;     // empty in results from before schema version 4
  std::optional<RateSeries> rates = {};
  Conditions conditions;
  std::optional<TreeComparison> tree;  // if it was verified
  std::optional<ReelSample> reel;
  std::optional<ClientsSample> clients;  // all other members are then of all clients together
};

// Drops courses and slowest operations, most of a sample's memory: what remains is that of
// ResultDetail::figures (result_json.h).
void keep_figures(Sample& sample);

// Whether filereel was stopped meanwhile, or a replay ended early.
bool was_cut_short(const Sample& sample);
// Whether the sample has no figures: it was cut short, or calls failed that should have succeeded.
// A replay that diverged otherwise still has figures, and reports the differences.
bool has_failed(const Sample& sample);

}  // namespace filereel
