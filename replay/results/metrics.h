// The figures that tables, reports, exports and plans know: one table for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

enum class Unit : std::uint8_t {
  mb_per_s,      // 10^6 bytes a second
  per_second,    // of files, operations or transactions
  seconds,       //
  microseconds,  // of latencies
  share,         // 0 to 1
};
std::string_view unit_name(Unit unit);  // in data: "MB/s", "1/s", "s", "us", "share"

struct Metric {
  std::string_view name;     // in plans, JSON and CSV: "mb_per_s"
  std::string_view title;    // in charts: "MB/s until durable"
  std::string_view heading;  // of a column: "MB/s"
  Unit unit = Unit::mb_per_s;
  bool more_is_better = true;
  bool brief = false;  // in tables that cannot have all
  // Of one sample of a measurement of a result; nothing where it has no such figure, or has failed.
  std::optional<double> (*of_sample)(const Result& result, const Measurement& measurement,
                                     const Sample& sample) = nullptr;
  // In place of it for percentiles and maxima of one kind of operation. A measurement's are those
  // of all samples together (pooled_latency); of other metrics the median of the samples' figures.
  std::string_view kind = {};
  double LatencySummary::* percentile = nullptr;
};

// In the order of tables and menus.
std::span<const Metric> metrics();
const Metric* find_metric(std::string_view name);  // null if there is none of that name

// A sample's figure, as of_sample.
std::optional<double> figure_of(const Metric& metric, const Result& result,
                                const Measurement& measurement, const Sample& sample);

// A measurement's figure: the median with its 95 % interval, and the extremes of its samples.
std::optional<Spread> spread_of(const Metric& metric, const Result& result,
                                const Measurement& measurement);

// The rates of which the first that a measurement has says most of it.
inline constexpr std::array<std::string_view, 3> kMainRates = {"mb_per_s", "files_per_s",
                                                               "operations_per_s"};
// That one; null where it has none.
const Metric* main_metric(const Result& result, const Measurement& measurement);

// The same for several that stand in one table or chart; null ones are passed over. Of accesses
// operations/s or MB/s, by their sizes, of files both files/s and MB/s, of recorded traces the
// time.
std::vector<const Metric*> usual_metrics(std::span<const Measurement* const> measurements);

}  // namespace filereel
