// The block-level tester fio (https://fio.readthedocs.io) as another program.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

inline constexpr std::string_view kFioPackage = "fio";

// One job of one thread with direct I/O.
struct FioJob {
  std::string path;     // an existing file of at least `size`, or a block device
  std::string pattern;  // "read", "write", "randread", "randwrite"
  std::uint64_t block_size = 4096;
  std::uint32_t depth = 1;  // requests in flight
  std::uint64_t size = 0;   // bytes from the begin on that are worked on
  double seconds = 0;       // at most
  bool again = false;       // begins anew at the end of `size` until the time is over
};

struct FioFigures {
  std::uint64_t bytes = 0;
  double mb_per_s = 0;  // 10^6 bytes a second
  double iops = 0;
  std::string version;                       // "3.33"
  std::optional<BlockLatency> latency = {};  // of a job that reads or writes; nothing of both
};

// Throws Error(failed) that names the package if fio is not installed.
void check_fio();

// Waits for its end. Nothing when the stop was requested: then fio has ended too. Throws
// Error(failed) with what fio says when it fails.
std::optional<FioFigures> run_fio(const FioJob& job, const std::stop_token& stop);

// From the text that fio prints with --output-format=json, whatever stands around the JSON. Throws
// Error(failed).
FioFigures fio_figures(std::string_view output);

}  // namespace filereel
