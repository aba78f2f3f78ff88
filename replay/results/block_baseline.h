// How the work on files compares with what block-level tests say of the same device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replay/results/result.h"

namespace filereel {

// Direct accesses must be whole blocks: the size that stands for accesses of `bytes`, the next
// multiple of 4 KiB, at most 16 MiB.
std::uint64_t baseline_block_size(std::uint64_t bytes);

// As fio and BlockBaseline::pattern call it: "read", "write", "randread", "randwrite".
std::string baseline_pattern(bool random, bool writes);

// What share of the block-level speed the measurement reaches: the time that the same bytes take at
// block level, read and written with the measurement's AccessShape one after the other, by the time
// until all was durable; the median of its samples. Above 1 where caches or compression help.
// Nothing without the baselines that this takes, of steps that move no data, and of copies to
// another volume, which is not in the baselines.
std::optional<double> block_share(const Result& result, const Measurement& measurement);

// The file system's share of latency: 1 - mean latency at block level / mean latency of the
// measurement's reads or writes; the median of its samples, 0 to 1. Nothing where the accesses are
// not comparable (AccessShape), without the baseline, and where the files are not slower than the
// block level: noise and caches have no share.
std::optional<double> latency_share(const Result& result, const Measurement& measurement);

// Bytes that went through the device for each byte of files: written (the write amplification of
// the file system and its journal; of a copy to far on either volume) and read. The median of the
// samples; nothing where the device has no counters, or the work wrote (read) nothing.
struct DeviceBytes {
  std::optional<double> written, read;
};
DeviceBytes device_bytes_per_file_byte(const Measurement& measurement);

}  // namespace filereel
