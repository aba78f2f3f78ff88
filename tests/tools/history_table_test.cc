#include "tools/cli/history_table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

TrendSeries series_of(const std::vector<double>& medians,
                      const std::vector<std::string>& firmware) {
  TrendSeries series;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    series.points.push_back({.started = "",
                             .firmware = firmware.empty() ? "1" : firmware[i],
                             .figure = {medians[i], medians[i], medians[i]}});
  }
  return series;
}

TEST_CASE("a sparkline goes from the lowest to the highest, and marks new firmware") {
  CHECK(sparkline(series_of({1, 4.5, 8}, {})) == "▁▅█");
  CHECK(sparkline(series_of({8, 8, 1}, {"1", "1", "2"})) == "██|▁");
  CHECK(sparkline(series_of({1, 8, 1}, {"1", "2", "1"})) == "▁|█|▁");
}

TEST_CASE("a sparkline keeps noise small") {
  CHECK(sparkline(series_of({100, 100, 100}, {})) == "▅▅▅");
  CHECK(sparkline(series_of({100, 99.9, 100}, {})) == "▅▄▅");
  CHECK(sparkline(series_of({0, 0}, {})) == "▅▅");
}

}  // namespace
}  // namespace filereel
