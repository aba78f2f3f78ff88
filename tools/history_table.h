// A history for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "replay/history/history.h"
#include "replay/history/trend.h"
#include "tools/table.h"

namespace filereel {

// A line for each result, by device; the numbers and names are those that `compare` takes.
std::string format_history(const HistoryFolder& history, const Bold& bold);
std::string history_to_json(const HistoryFolder& history);

// A line for each measurement: first and last figure, change, and a small chart in which "|" stands
// where the firmware changed.
std::string format_trends(const std::vector<DeviceTrend>& trends, const Bold& bold);
std::string trends_to_json(const std::vector<DeviceTrend>& trends);

// The medians of the points, lowest to highest, as ▁ to █; a spread below a tenth of the highest
// does not fill the height, so that noise stays small.
std::string sparkline(const TrendSeries& series);

}  // namespace filereel
