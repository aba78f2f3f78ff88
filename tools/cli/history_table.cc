#include "tools/cli/history_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "replay/compare/comparison_formats.h"
#include "replay/json.h"

namespace filereel {
namespace {

constexpr std::size_t kMostOfLine = 1000;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : printable(text);
}

std::string percent(double share) {
  return fmt::format("{:+.1f} %", share * 100);
}

std::string change_over_all(const TrendSeries& series) {
  if (series.change) return percent(*series.change);
  return series.points.size() == 1 ? "one result" : "-";
}

// "-85.6 %", and below it "-94.1 to -65.0 %": the change and its interval.
Cell by_firmware(const TrendSeries& series) {
  Cell cell(series.firmware_change ? percent(*series.firmware_change) : "-");
  if (const auto& interval = series.firmware_interval) {
    cell.below = fmt::format("{:+.1f} to {}", interval->low * 100, percent(interval->high));
  }
  return cell;
}

std::string file_systems(const Result& result) {
  std::vector<std::string> names;
  for (const Measurement& measurement : result.measurements) {
    if (!contains(names, measurement.file_system)) names.push_back(measurement.file_system);
  }
  return names.empty() ? "-" : printable(fmt::format("{}", fmt::join(names, ",")));
}

bool has_interval(const std::vector<DeviceTrend>& trends) {
  return std::ranges::any_of(trends, [](const DeviceTrend& trend) {
    return std::ranges::any_of(trend.series, [](const TrendSeries& series) {
      return series.firmware_interval.has_value();
    });
  });
}

// Without the columns that say nothing in any row.
Rows without_empty(const Rows& rows) {
  Rows kept(rows.size());
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    const auto is_empty = [&](const auto& row) { return row[column].text == "-"; };
    if (std::ranges::all_of(rows.begin() + 1, rows.end(), is_empty)) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) kept[i].push_back(rows[i][column]);
  }
  return kept;
}

// The directories of a device's results, as `compare` takes them; a name that lies in none itself.
std::vector<std::string> folders_of(const HistoryDirectory& history, const std::string& device) {
  std::vector<std::string> folders;
  for (const HistoryEntry& entry : history.entries) {
    if (entry.device != device) continue;
    std::string folder = printable(entry.name.substr(0, entry.name.rfind('/')));
    if (!contains(folders, folder)) folders.push_back(std::move(folder));
  }
  return folders;
}

std::string key_line(const TrendSeries& series) {
  std::string line = key_text(series.key);
  if (!series.options.empty()) line += " (" + series.options + ")";
  return printable(line);
}

}  // namespace

std::string format_history(const HistoryDirectory& history, const Bold& bold) {
  std::vector<std::string> devices;
  for (const HistoryEntry& entry : history.entries) {
    if (!contains(devices, entry.device)) devices.push_back(entry.device);
  }
  std::string text;
  for (const std::string& device : devices) {
    if (!text.empty()) text += "\n";
    text += bold(printable(device)) + "\n";
    Rows rows = {{"", "started", "firmware", "plan", "file systems", "measured", "label"}};
    for (const HistoryEntry& entry : history.entries) {
      if (entry.device != device) continue;
      const Result& result = entry.result;
      rows.push_back(
          {fmt::format("{}", entry.number), printable(entry.started), or_dash(entry.firmware),
           or_dash(result.plan.name), file_systems(result),
           fmt::format("{}{}", result.measurements.size(), result.complete ? "" : " (incomplete)"),
           or_dash(entry.label)});
    }
    text += format_columns(without_empty(rows));
    text += wrapped(fmt::format("in {}", fmt::join(folders_of(history, device), ", ")), 2);
  }
  return text.empty() ? "no results\n" : text;
}

std::string history_to_json(const HistoryDirectory& history) {
  Json list = Json::array();
  for (const HistoryEntry& entry : history.entries) {
    list.push_back({{"number", entry.number},
                    {"name", entry.name},
                    {"device", entry.device},
                    {"firmware", entry.firmware},
                    {"started", entry.started},
                    {"label", entry.label},
                    {"plan", entry.result.plan.name},
                    {"measurements", entry.result.measurements.size()},
                    {"complete", entry.result.complete}});
  }
  return dump({{"results", std::move(list)}});
}

std::string sparkline(const TrendSeries& series) {
  static constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kLeastRange = 0.1;  // as a share of the highest
  const auto [low, high] =
      std::ranges::minmax(series.points, {}, [](const auto& one) { return one.figure.median; });
  const double top = high.figure.median;
  const double range = std::max(top - low.figure.median, top * kLeastRange);
  // Centred if it does not use the full height.
  const double bottom = (top + low.figure.median - range) / 2;
  std::string text;
  const TrendPoint* before = nullptr;
  for (const TrendPoint& point : series.points) {
    if (before && before->firmware != point.firmware) text += "|";
    before = &point;
    const double share = range > 0 ? (point.figure.median - bottom) / range : 0.5;
    const double step = std::floor(share * static_cast<double>(kBars.size()));
    text += kBars.at(
        static_cast<std::size_t>(std::clamp(step, 0.0, static_cast<double>(kBars.size() - 1))));
  }
  return text;
}

std::string format_trends(const std::vector<DeviceTrend>& trends, const Bold& bold) {
  std::string text;
  for (const DeviceTrend& trend : trends) {
    if (!text.empty()) text += "\n";
    text += bold(printable(trend.device)) + "\n";
    std::string revisions;
    for (const TrendFirmware& firmware : trend.firmware) {
      if (!revisions.empty()) revisions += " | ";
      revisions +=
          fmt::format("{} from {}", firmware.name.empty() ? "unknown" : printable(firmware.name),
                      printable(firmware.started));
    }
    text += wrapped("firmware: " + revisions, 2);
    Rows rows = {
        {"measurement", "unit", "results", "first", "last", "change", "by firmware", "over time"}};
    for (const TrendSeries& series : trend.series) {
      rows.push_back({key_line(series), series.unit, fmt::format("{}", series.points.size()),
                      format_number(series.points.front().figure.median),
                      format_number(series.points.back().figure.median), change_over_all(series),
                      by_firmware(series), sparkline(series)});
    }
    if (!trend.series.empty()) text += format_columns(rows);
    for (const std::string& one : trend.left_out)
      text += wrapped("left out: " + printable(one, kMostOfLine), 2);
  }
  if (has_interval(trends)) {
    text += "\n" + wrapped(
                       "by firmware: change with the last firmware; below it its 95 % interval, "
                       "which contains the spread between sessions",
                       0);
  }
  return text.empty() ? "no measurements\n" : text;
}

std::string trends_to_json(const std::vector<DeviceTrend>& trends) {
  Json devices = Json::array();
  for (const DeviceTrend& trend : trends) {
    Json firmware = Json::array(), measurements = Json::array();
    for (const TrendFirmware& one : trend.firmware) {
      firmware.push_back({{"name", one.name}, {"started", one.started}});
    }
    for (const TrendSeries& series : trend.series) {
      Json points = Json::array();
      for (const TrendPoint& point : series.points) {
        points.push_back({{"number", point.entry},
                          {"started", point.started},
                          {"firmware", point.firmware},
                          {"complete", point.complete},
                          {"median", point.figure.median},
                          {"low", point.figure.low},
                          {"high", point.figure.high}});
      }
      Json& json = measurements.emplace_back(key_to_json(series.key));
      json["options"] = series.options;
      json["unit"] = series.unit;
      if (series.change) json["change"] = *series.change;
      json["points"] = std::move(points);
      if (series.firmware_change) json["firmware_change"] = *series.firmware_change;
      if (const auto& interval = series.firmware_interval) {
        json["firmware_change_interval_95"] = {{"low", interval->low}, {"high", interval->high}};
      }
    }
    devices.push_back({{"device", trend.device},
                       {"firmware", std::move(firmware)},
                       {"measurements", std::move(measurements)}});
    if (!trend.left_out.empty()) devices.back()["left_out"] = trend.left_out;
  }
  return dump({{"devices", std::move(devices)}});
}

}  // namespace filereel
