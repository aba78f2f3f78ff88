// Runs the block-level tester fio (https://fio.readthedocs.io).
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

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

}  // namespace filereel
