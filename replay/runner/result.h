// What a run measured, as plain data. The JSON form is in result_json.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/runner/host.h"
#include "replay/runner/plan.h"
#include "replay/runner/tree_check.h"
#include "replay/volumes/name_rules.h"
#include "replay/volumes/volume.h"

namespace filereel {

struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes = 0;
  // Microseconds; to 0.8 % (replay/measure/histogram.h), the maximum exactly.
  double p50_us = 0, p90_us = 0, p95_us = 0, p99_us = 0, p999_us = 0, p9999_us = 0, max_us = 0;
  double total_us = 0;
};

struct DivergenceExample {
  std::uint64_t position = 0;
  std::uint32_t thread = 0;
  std::string operation, path;
  std::int64_t expected = 0, result = 0;  // a failed call is -errno
  std::string kind_of = {};               // divergence_class_name
};

// A stretch of a replay.
struct SeriesPoint {
  double t_s = 0;  // since the replay's start
  std::uint64_t operations = 0, bytes = 0;
  double mean_us = 0, max_us = 0;  // latencies
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
  std::vector<SeriesPoint> series;
  std::optional<TreeComparison> tree;  // where it was verified
};

// One measured repetition.
struct Sample {
  std::uint32_t run = 0;  // from 1
  double elapsed_s = 0;   // when the last call returned
  double durable_s = 0;   // when everything was on the device; counts from the same start
  std::uint64_t bytes = 0, files = 0, operations = 0;
  double cpu_user_s = 0, cpu_system_s = 0;  // of filereel, until elapsed_s
  double cpu_driver_s = 0;                  // of FUSE drivers, until durable_s
  std::optional<std::uint64_t> device_bytes_read, device_bytes_written;  // near and far together
  std::string cold_method;
  std::optional<double> cached_before;  // share of the content that the caches held, 0 to 1
  bool moved_no_data = false;           // a copy whose blocks are shared with the original
  std::uint64_t divergences = 0;
  std::vector<DivergenceExample> examples;
  std::map<std::string, LatencySummary> latency;  // by operation name
  std::optional<ReelSample> reel;
};

struct Spread {
  double median = 0, low = 0, high = 0;  // low and high: the extremes
};

// Of the samples that moved data; nothing where there is none.
struct Summary {
  std::optional<Spread> mb_per_s;          // 10^6 bytes of content a second until durable
  std::optional<Spread> mb_per_s_elapsed;  // the same until the last call returned
  std::optional<Spread> files_per_s;       // until durable
  std::optional<Spread> operations_per_s;  // until the last call returned; replays of reels only
};

// The workload of measurements that are replays of recorded traces.
inline constexpr std::string_view kReelWorkload = "reel";

// How a recorded trace was replayed.
struct ReelParameters {
  std::string order, pace, engine, verify;  // as on the command line
  std::uint32_t depth = 0;                  // of queues; 0: as recorded
  std::uint32_t clients = 1;
  bool warm = false;
};

struct Measurement {
  std::string workload, set, operation, file_system;
  std::string driver;  // of near: "kernel" or the FUSE program
  std::optional<ReelParameters> reel;
  std::vector<Sample> samples;

  Summary summary() const;
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
  static constexpr int kSchemaVersion = 1;

  std::string version;  // filereel's
  std::string started;  // ISO 8601, UTC
  HostInfo host;
  Plan plan;
  std::vector<VolumeDescription> volumes;  // one for each role and file system
  double overhead_ns = 0;  // filereel's own time per operation, measured with the null engine
  bool complete = false;
  std::vector<Warning> warnings;
  std::vector<EscapedNames> escaped_names;
  std::vector<Measurement> measurements;

  // Adds a warning unless the same code and text stand there already.
  void warn(Warning warning);
};

}  // namespace filereel
