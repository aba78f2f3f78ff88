// The metrics of tables, reports, exports and plans, in one table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/latency.h"
#include "replay/results/result.h"
#include "replay/statistics/summary.h"

namespace filereel {

enum class Unit : std::uint8_t {
  mb_per_s,      // 10^6 bytes a second
  per_second,    // files, operations or transactions
  seconds,       //
  microseconds,  // latencies
  share,         // 0 to 1
};
std::string_view unit_name(Unit unit);  // in data: "MB/s", "1/s", "s", "us", "share"
bool is_rate(Unit unit);                // an amount per second

// What a metric of one of the measurement's samples is calculated from.
struct MetricSource {
  MetricSource(const Result& of_result, const Measurement& of_measurement)
      : result(of_result), measurement(of_measurement), until(rate_time(of_measurement)) {}

  const Result& result;
  const Measurement& measurement;
  double Sample::* until;
};

struct Metric {
  std::string_view name;     // in plans, JSON and CSV: "mb_per_s"
  std::string_view title;    // in charts: "MB/s (writes until durable)"; see title_of
  std::string_view heading;  // of a column: "MB/s"
  Unit unit = Unit::mb_per_s;
  bool more_is_better = true;
  bool brief = false;  // shown in tables that have no room for all
  // The value for one sample of a measurement; empty if the sample has none or has failed.
  std::optional<double> (*of_sample)(const MetricSource& of, const Sample& sample) = nullptr;
  // Replaces of_sample for percentiles and maxima of one kind of operation. A measurement's value
  // is then that of all samples together (pooled_latency); for other metrics it is the median of
  // the samples' values, or their maximum (`longest`), so that no percentile exceeds the maximum.
  std::string_view kind = {};
  double LatencySummary::* percentile = nullptr;
  bool longest = false;
  bool of_bytes = false;  // from Sample::bytes, whose meaning has changed (same_bytes)
};

Middle middle_of(const Metric& metric);

// The title of a metric of measurements: of those that wrote a rate is one until durable, of the
// others one until calls return (rate_time).
std::string title_of(const Metric& metric, std::span<const Measurement* const> measurements);

// In the order of tables and menus.
std::span<const Metric> metrics();
const Metric* find_metric(std::string_view name);  // null if unknown

// A sample's value, as of_sample.
std::optional<double> figure_of(const Metric& metric, const MetricSource& of, const Sample& sample);

// A measurement's value: the median with its 95 % confidence interval, and the extremes of its
// samples. A maximum of all samples has no interval.
std::optional<Spread> spread_of(const Metric& metric, const Result& result,
                                const Measurement& measurement);
// The same for several metrics of one measurement, whose latencies are pooled once.
std::optional<Spread> spread_of(const Metric& metric, const Result& result,
                                const Measurement& measurement, PooledLatencies& pooled);

// Rates in order of preference: the first one that a measurement has describes it best.
inline constexpr std::array<std::string_view, 3> kMainRates = {"mb_per_s", "files_per_s",
                                                               "operations_per_s"};
// Those that only several clients have (docs/clients.md), in the order of tables.
inline constexpr std::array<std::string_view, 5> kClientMetrics = {
    "first_ended_mb_per_s", "first_ended_operations_per_s", "slowest_to_fastest_client",
    "jain_index", "start_skew_us"};

// The preferred rate of the measurement; null if it has none.
const Metric* main_metric(const Result& result, const Measurement& measurement);

// The same for several measurements in one table or chart; null ones are skipped. Accesses:
// operations/s or MB/s, depending on their sizes. Files: both files/s and MB/s; MB/s alone if all
// are large. Recorded traces: time.
std::vector<const Metric*> default_metrics(std::span<const Measurement* const> measurements);

}  // namespace filereel
