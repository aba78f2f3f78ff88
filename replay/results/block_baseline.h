// Compares file access with block-level tests of the same device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// The block size that represents accesses of `bytes`. Direct I/O needs whole blocks, so this is the
// next multiple of 4 KiB, at most 16 MiB.
std::uint64_t baseline_block_size(std::uint64_t bytes);

// The name in fio and in BlockBaseline::pattern: "read", "write", "randread", "randwrite".
std::string baseline_pattern(bool random, bool writes);

// A baseline with all file systems for which it is valid. It is measured once on each volume, below
// the file system.
struct SharedBaseline {
  BlockBaseline baseline;
  std::vector<std::string> file_systems;
};
std::vector<SharedBaseline> shared_baselines(std::span<const BlockBaseline> baselines);

// The share of the block-level speed that the measurement reaches. It is the time that the same
// bytes take at block level, divided by the time of its MB/s (rate_time); the median of the
// samples. The block-level time reads and then writes with the measurement's AccessShape. Above 1
// if caches or compression help. Empty without the required baselines, for steps that move no data,
// and for copies to another volume, which the baselines do not cover.
std::optional<double> block_share(const Result& result, const Measurement& measurement);

// The file system's share of latency: 1 - mean latency at block level / mean latency of the
// measurement's reads or writes. The median of the samples, 0 to 1. Empty if the accesses are not
// comparable (AccessShape), without a baseline, and if the files are not slower than the block
// level: noise and caches have no share.
std::optional<double> latency_share(const Result& result, const Measurement& measurement);

// Bytes that went through the device per byte of file content: written (the write amplification of
// the file system and its journal; for a copy to far, of both volumes) and read. Medians of the
// samples; empty if the device has no counters, or nothing was written (read).
struct DeviceBytes {
  std::optional<double> written, read;
};
DeviceBytes device_bytes_per_file_byte(const Measurement& measurement);

}  // namespace filereel
