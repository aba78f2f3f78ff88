#include "replay/results/block_baseline.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "filesets/system/search.h"
#include "replay/results/bytes_moved.h"
#include "replay/statistics/summary.h"
#include "traces/fc_test.h"
#include "traces/operation.h"

namespace filereel {
namespace {

constexpr double kMega = 1e6;

std::optional<double> median_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(median(values));
}

const BlockBaseline* baseline_of(const Result& result, const Measurement& measurement,
                                 bool writes) {
  const AccessShape& shape = *measurement.access;
  return find_if_or_null(result.baselines, [&](const BlockBaseline& baseline) {
    return baseline.file_system == measurement.file_system &&
           baseline.pattern == baseline_pattern(shape.random, writes) &&
           baseline.block_size == baseline_block_size(shape.block_size) &&
           baseline.depth == shape.depth && baseline.mb_per_s > 0;
  });
}

bool leaves_the_volume(const Measurement& measurement) {
  return info_of(measurement.kind).by_set &&
         measurement.operation == fc_step_name(FcStep::copy_far);
}

}  // namespace

std::uint64_t baseline_block_size(std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 4 << 10, kMost = 16 << 20;
  return std::clamp((bytes + kUnit - 1) / kUnit * kUnit, kUnit, kMost);
}

std::string baseline_pattern(bool random, bool writes) {
  return std::string(random ? "rand" : "") + (writes ? "write" : "read");
}

std::vector<SharedBaseline> shared_baselines(std::span<const BlockBaseline> baselines) {
  const auto figures = [](const BlockBaseline& baseline) {
    return std::tie(baseline.on, baseline.pattern, baseline.block_size, baseline.depth,
                    baseline.mb_per_s, baseline.iops);
  };
  std::vector<SharedBaseline> list;
  for (const BlockBaseline& one : baselines) {
    auto same = std::ranges::find_if(
        list, [&](const SharedBaseline& other) { return figures(other.baseline) == figures(one); });
    if (same == list.end()) same = list.insert(same, {one, {}});
    same->file_systems.push_back(one.file_system);
  }
  return list;
}

std::optional<double> block_share(const Result& result, const Measurement& measurement) {
  if (!measurement.access || leaves_the_volume(measurement)) return std::nullopt;
  const BlockBaseline* reading = baseline_of(result, measurement, false);
  const BlockBaseline* writing = baseline_of(result, measurement, true);
  double Sample::* const until = rate_time(measurement);
  std::vector<double> shares;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample) || sample.moved_no_data || sample.*until <= 0) continue;
    const BytesMoved moved = bytes_moved(sample);
    if ((moved.read > 0 && !reading) || (moved.written > 0 && !writing)) return std::nullopt;
    double seconds = 0;
    const auto add = [&](std::uint64_t bytes, const BlockBaseline* at) {
      if (bytes > 0) seconds += static_cast<double>(bytes) / kMega / at->mb_per_s;
    };
    add(moved.read, reading);
    add(moved.written, writing);
    if (seconds > 0) shares.push_back(seconds / (sample.*until));
  }
  return median_of(shares);
}

std::optional<double> latency_share(const Result& result, const Measurement& measurement) {
  if (!measurement.access || !measurement.access->latency_comparable) return std::nullopt;
  std::vector<double> shares;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample)) continue;
    for (const bool writes : {false, true}) {
      const auto files = sample.latency.find(
          std::string(operation_info(writes ? OperationKind::write : OperationKind::read).name));
      if (files == sample.latency.end() || files->second.total_us <= 0) continue;
      const BlockBaseline* block = baseline_of(result, measurement, writes);
      if (!block || !block->latency) return std::nullopt;
      const double mean_us = files->second.total_us / static_cast<double>(files->second.count);
      shares.push_back(1 - block->latency->mean_us / mean_us);
    }
  }
  const std::optional<double> share = median_of(shares);
  return share && *share >= 0 ? share : std::nullopt;
}

DeviceBytes device_bytes_per_file_byte(const Measurement& measurement) {
  std::vector<double> written, read;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample) || sample.moved_no_data) continue;
    const BytesMoved moved = bytes_moved(sample);
    const auto add = [](std::vector<double>& ratios, std::uint64_t bytes,
                        const std::optional<std::uint64_t>& device) {
      if (bytes == 0 || !device) return;
      ratios.push_back(static_cast<double>(*device) / static_cast<double>(bytes));
    };
    add(written, moved.written, sample.device_bytes_written);
    add(read, moved.read, sample.device_bytes_read);
  }
  return {median_of(written), median_of(read)};
}

}  // namespace filereel
