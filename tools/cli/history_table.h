// A history as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "replay/history/history.h"
#include "replay/history/trend.h"
#include "tools/cli/table.h"

namespace filereel {

// A line for each result, by device, with the number and name that `compare` takes.
std::string format_history(const HistoryDirectory& history, const Bold& bold);
std::string history_to_json(const HistoryDirectory& history);

// A line for each measurement: first and last figure, change, and a sparkline in which "|" marks a
// change of firmware.
std::string format_trends(const std::vector<DeviceTrend>& trends, const Bold& bold);
std::string trends_to_json(const std::vector<DeviceTrend>& trends);

// The medians of the points as ▁ (lowest) to █ (highest). A range below a tenth of the highest
// median does not use the full height, so that noise looks small.
std::string sparkline(const TrendSeries& series);

}  // namespace filereel
