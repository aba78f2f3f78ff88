// Measures block-level baselines with fio and direct I/O: sequential and random, reads and writes.
// Works on the device that is to be formatted, or on one large file in a directory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// --- Runs the block-level tester fio (https://fio.readthedocs.io).

// A job of one thread with direct I/O.
struct FioJob {
  std::string path;     // an existing file of at least `size`, or a block device
  std::string pattern;  // "read", "write", "randread", "randwrite"
  std::uint64_t block_size = 4096;
  std::uint32_t depth = 1;  // requests in flight
  std::uint64_t size = 0;   // bytes used, from offset 0
  double seconds = 0;       // at most
  bool again = false;       // restart at the end of `size` until the time is over
};

struct FioFigures {
  std::uint64_t bytes = 0;
  double mb_per_s = 0;  // 10^6 bytes a second
  double iops = 0;
  std::string version;                       // "3.33"
  std::optional<BlockLatency> latency = {};  // nothing for a job that both reads and writes
};

// Throws Error(failed) naming the package if fio is not installed.
void check_fio();

// Waits for fio to finish. Returns nothing if the stop was requested; fio has ended then, too.
// Throws Error(failed) with fio's message if it fails.
std::optional<FioFigures> run_fio(const FioJob& job, const std::stop_token& stop);

// Parses the output of fio --output-format=json, which may have other text around the JSON. Throws
// Error(failed).
FioFigures fio_figures(std::string_view output);

// The file that is measured in a directory; removed afterwards. Volumes must count it among the
// names that filereel creates.
inline constexpr std::string_view kBaselineFile = ".filereel-baseline";

// Call before the volume's first prepare(). Measures all four patterns for each block size and
// depth, a few seconds each, after the area was written once. Reuses what the result (of one
// volume) already has for another file system. A failure becomes a warning in the result. The
// caller sets BlockBaseline::file_system. Returns nothing if the stop was requested.
std::optional<std::vector<BlockBaseline>> measure_baselines(const Volume& volume,
                                                            std::span<const AccessShape> shapes,
                                                            RunObserver& observer,
                                                            const std::stop_token& stop,
                                                            Result& result);

// The time that measure_baselines takes, as it is assumed before. `shapes`: their number.
double baseline_seconds(std::size_t shapes);

// Adds them to the result for that file system, unless it has them.
void add_baselines(std::span<const BlockBaseline> baselines, const std::string& file_system,
                   Result& result);

}  // namespace filereel
