#include "replay/compare/prediction_limits.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/units.h"
#include "replay/results/stalls.h"
#include "traces/operation.h"

namespace filereel {
namespace {

// Seconds of all threads in the calls of each kind, of all samples that did not fail.
std::map<std::string, double> seconds_by_kind(const Measurement& measurement, double& elapsed_s) {
  std::map<std::string, double> seconds;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample)) continue;
    elapsed_s += sample.elapsed_s;
    for (const auto& [kind, latency] : sample.latency) {
      OperationKind known{};
      if (!find_operation_kind(kind, known) || !operation_info(known).is_call) continue;
      seconds[kind] += latency.total_us * 1e-6;
    }
  }
  return seconds;
}

std::string limit_text(const Measurement& measurement, std::uint64_t threads) {
  double elapsed_s = 0, in_calls = 0;
  std::pair<std::string, double> largest;
  for (const auto& [kind, seconds] : seconds_by_kind(measurement, elapsed_s)) {
    in_calls += seconds;
    if (seconds > largest.second) largest = {kind, seconds};
  }
  if (!(elapsed_s > 0) || in_calls == 0) return "";
  const double share = in_calls / elapsed_s;
  const std::string most =
      fmt::format("mostly {} ({:.0f} %)", largest.first, largest.second / in_calls * 100);
  // Requests of one thread can be in flight together, too.
  if (threads != 1 || share > 1) {
    const std::string none =
        share < 1
            ? fmt::format("; none for at least {:.0f} % of the time, which no storage shortens",
                          (1 - share) * 100)
            : "";
    return fmt::format("{} file operations in progress on average, {}{}", format_number(share),
                       most, none);
  }
  return fmt::format(
      "file operations {:.0f} % of the time, {}; the program itself and its pauses {:.0f} %",
      share * 100, most, (1 - share) * 100);
}

}  // namespace

std::string volume_name(const Result& result, const Measurement& measurement) {
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.file_system == measurement.file_system) return volume.target;
  }
  return result.label;
}

std::vector<TimeLimit> time_limits(const StoredPrediction& stored) {
  std::vector<TimeLimit> limits;
  for (const Result& result : stored.results) {
    for (const Measurement& one : result.measurements) {
      std::string text = limit_text(one, stored.program.threads);
      if (text.empty()) continue;
      limits.push_back({volume_name(result, one), one.file_system, std::move(text)});
    }
  }
  const std::vector<PredictedTime>& times = stored.prediction.times;
  std::ranges::stable_sort(limits, {}, [&](const TimeLimit& limit) {
    return std::ranges::find_if(times,
                                [&](const PredictedTime& time) {
                                  const ReplayedVolume& volume = stored.volumes[time.volume];
                                  return volume.name == limit.volume &&
                                         volume.file_system == limit.file_system;
                                }) -
           times.begin();
  });
  return limits;
}

}  // namespace filereel
