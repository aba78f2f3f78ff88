#include "replay/history/history_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison.h"
#include "replay/json.h"
#include "replay/report/comparison_data.h"
#include "replay/report/html_report.h"

namespace filereel {
namespace {

std::string firmware_name(const std::string& firmware) {
  return firmware.empty() ? "unknown" : firmware;
}

std::vector<Result> results_with(const HistoryDirectory& history, const std::string& device,
                                 const std::string& firmware) {
  std::vector<Result> results;
  for (const HistoryEntry& entry : history.entries) {
    if (entry.device == device && entry.firmware == firmware) results.push_back(entry.result);
  }
  return results;
}

// [number of the result, start, index of the firmware, median, low, high, whether low and high are
// a confidence interval].
Json point_data(const TrendPoint& point, const DeviceTrend& trend) {
  const auto firmware = std::ranges::find(trend.firmware, point.firmware, &TrendFirmware::name) -
                        trend.firmware.begin();
  const Spread& figure = point.figure;
  const Interval range = figure.interval.value_or(Interval{figure.low, figure.high});
  return {point.entry,
          point.started,
          firmware,
          figure.median,
          range.low,
          range.high,
          figure.interval.has_value()};
}

Json series_data(const TrendSeries& series, const DeviceTrend& trend) {
  std::string name = key_text(series.key, shared_replay_of(trend.series));
  if (!series.options.empty()) name += fmt::format(" ({})", series.options);
  Json json = {{"name", name},
               {"unit", series.unit},
               {"tail", series.aspect == Aspect::tail},
               {"points", Json::array()}};
  if (series.change) json["change"] = *series.change;
  if (series.firmware_change) json["firmware_change"] = *series.firmware_change;
  if (const auto& interval = series.firmware_interval) {
    json["firmware_interval"] = {interval->low, interval->high};
  }
  for (const TrendPoint& point : series.points) json["points"].push_back(point_data(point, trend));
  return json;
}

// Each firmware, and its comparison with the one before.
Json firmware_data(const HistoryDirectory& history, const DeviceTrend& trend) {
  Json list = Json::array();
  std::vector<Result> base;
  std::string before;
  for (const TrendFirmware& firmware : trend.firmware) {
    std::vector<Result> fresh = results_with(history, trend.device, firmware.name);
    const std::string name = firmware_name(firmware.name);
    Json& json = list.emplace_back(Json{{"name", name},
                                        {"started", firmware.started},
                                        {"last", fresh.back().started},
                                        {"results", fresh.size()}});
    if (!base.empty()) {
      ResultComparison comparison =
          compare_results(base, fresh, {}, other_sessions(history, base, fresh));
      comparison.base_name = before;
      comparison.fresh_name = name;
      json["comparison"] = comparison_data(comparison);
    }
    base = std::move(fresh);
    before = name;
  }
  return list;
}

}  // namespace

std::string history_page(const HistoryDirectory& history, const TrendFilter& filter) {
  const std::vector<DeviceTrend> trends = trends_of(history, filter);
  if (trends.empty()) {
    throw Error(ErrorKind::unusable_input,
                "the history has no measurements of these devices; `filereel history DIR list` "
                "prints what it has");
  }
  Json devices = Json::array();
  for (const DeviceTrend& trend : trends) {
    Json series = Json::array();
    for (const TrendSeries& one : trend.series) series.push_back(series_data(one, trend));
    devices.push_back({{"name", trend.device},
                       {"firmware", firmware_data(history, trend)},
                       {"series", std::move(series)},
                       {"left_out", trend.left_out}});
  }
  const Json json = {{"metrics", Json::array()}, {"devices", std::move(devices)}};
  const std::string title =
      trends.size() == 1 ? trends.front().device : "History of " + counted(trends.size(), "device");
  return html_page(title, script_safe(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace filereel
