#include "tools/efficiency_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/results/block_baseline.h"

namespace filereel {
namespace {

// Each figure once: one baseline is valid for all file systems on a volume. They are named if the
// baselines differ in them.
std::string baselines(const Result& result, const Bold& bold) {
  Rows rows = {
      {"block level (fio)", "on", "blocks", "depth", "MB/s", "IOPS", "mean", "p99", "max"}};
  const auto latency = [](const BlockBaseline& one, double BlockLatency::* figure) {
    return one.latency ? format_duration((*one.latency).*figure * 1e-6) : "-";
  };
  const std::vector<SharedBaseline> list = shared_baselines(result.baselines);
  const auto of_all = [&](const SharedBaseline& one) {
    return one.file_systems == list.front().file_systems;
  };
  const bool same = std::ranges::all_of(list, of_all);
  for (const auto& [one, file_systems] : list) {
    const std::string of = same ? "" : fmt::format("{} ", fmt::join(file_systems, ", "));
    rows.push_back({printable(of + one.pattern), printable(one.on),
                    format_binary_size(one.block_size), fmt::format("{}", one.depth),
                    format_number(one.mb_per_s), format_number(one.iops),
                    latency(one, &BlockLatency::mean_us), latency(one, &BlockLatency::p99_us),
                    latency(one, &BlockLatency::max_us)});
  }
  return format_table(rows, bold);
}

std::string name_of(const Measurement& one) {
  std::string name = one.file_system + " " + (one.set.empty() ? one.workload : one.set);
  return printable(name + " " + one.operation + point_text(one.parameters));
}

std::string ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string percentage(const std::optional<double>& share) {
  if (!share) return "-";
  const double percent = *share * 100;
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string shares(const Result& result, const Bold& bold) {
  Rows rows = {{"file/block level", "speed", "latency share", "device/file written", "read"}};
  for (const Measurement& one : result.measurements) {
    const std::optional<double> share = block_share(result, one);
    const std::optional<double> latency = latency_share(result, one);
    const DeviceBytes device = device_bytes_per_file_byte(one);
    if (!share && !device.written && !device.read) continue;
    rows.push_back({name_of(one), percentage(share), percentage(latency), ratio(device.written),
                    ratio(device.read)});
  }
  return rows.size() > 1 ? format_table(rows, bold) : "";
}

}  // namespace

std::string format_efficiency(const Result& result, const Bold& bold) {
  if (result.baselines.empty()) return "";
  return baselines(result, bold) + "\n" + shares(result, bold) + "\n";
}

}  // namespace filereel
