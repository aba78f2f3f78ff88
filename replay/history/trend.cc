#include "replay/history/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/random.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/compare/compared_figures.h"
#include "replay/compare/groups.h"
#include "replay/compare/sessions.h"
#include "replay/history/history.h"
#include "replay/results/failures.h"
#include "replay/results/latency.h"
#include "replay/results/metrics.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

bool wanted(const std::vector<std::string>& list, std::string_view one) {
  return list.empty() || contains(list, one);
}

struct UnitSpread {
  std::string unit;
  Spread spread;
  Aspect aspect = Aspect::time;
};

// The rate that reports describe the measurement by.
const Metric* rate_of(const Result& result, const Measurement& measurement) {
  const Measurement* const one = &measurement;
  for (const Metric* metric : default_metrics({&one, 1})) {
    if (!contains(kMainRates, metric->name)) continue;
    if (spread_of(*metric, result, measurement)) return metric;
  }
  if (info_of(measurement.kind).replays) return find_metric("operations_per_s");
  return main_metric(result, measurement);
}

void add_rate(const Result& result, const Measurement& measurement,
              std::vector<UnitSpread>& figures) {
  const Metric* const metric = rate_of(result, measurement);
  const auto spread = metric ? spread_of(*metric, result, measurement) : std::nullopt;
  if (spread) figures.push_back({std::string(metric->heading), *spread});
}

void add_tails(const Measurement& measurement, std::vector<UnitSpread>& figures) {
  if (measurement.samples.empty()) return;
  for (const auto& [kind, latency] : measurement.samples.front().latency) {
    const Percentile* tail = tail_percentile(measurement.median_count(kind));
    if (!tail) continue;
    const auto spread = latency_spread(measurement, kind, tail->figure);
    if (spread) {
      figures.push_back({fmt::format("µs {} {}", tail->name, kind), *spread, Aspect::tail});
    }
  }
}

std::vector<UnitSpread> figures_of(const Result& result, const Measurement& measurement) {
  std::vector<UnitSpread> figures;
  add_rate(result, measurement, figures);
  add_tails(measurement, figures);
  return figures;
}

// Settings that affect the figures but are not in the key. The work is compared apart: some of it
// may be unknown.
std::string options_of(const Measurement& measurement, const Result& result) {
  std::string text =
      settings_text(result.job_of(measurement), result.volumes) + ", driver " + measurement.driver;
  if (measurement.without_bytes_read) text += ", bytes read not counted";
  if (measurement.without_direct_io.value_or(false)) text += ", page cache instead of direct I/O";
  return text;
}

std::optional<double> change_of(std::span<const TrendPoint> points) {
  const double before = points.front().figure.median;
  if (points.size() < 2 || !(before > 0)) return std::nullopt;
  return points.back().figure.median / before - 1;
}

// A device's trend under construction, with the indices of the series by key, unit and options.
struct TrendBuilder {
  DeviceTrend trend;
  std::vector<Parameters> work = {};  // of each series, as far as its results tell
  std::map<std::tuple<MeasurementKey, std::string, std::string>, std::vector<std::size_t>> places =
      {};
};

// The one of the series with the same work, as far as is known; nothing if there is none.
std::optional<std::size_t> same_work(const std::vector<std::size_t>& places,
                                     const std::vector<Parameters>& known, const Parameters& work) {
  const auto found =
      std::ranges::find_if(places, [&](std::size_t place) { return fit(known[place], work); });
  return found == places.end() ? std::nullopt : std::optional(*found);
}

TrendBuilder& trend_for(std::vector<TrendBuilder>& trends, const std::string& device) {
  const auto found = std::ranges::find_if(
      trends, [&](const TrendBuilder& builder) { return builder.trend.device == device; });
  if (found != trends.end()) return *found;
  return trends.emplace_back(TrendBuilder{{.device = device, .firmware = {}, .series = {}}});
}

void add_point(TrendBuilder& growing, const HistoryEntry& entry, const Measurement& measurement) {
  const MeasurementKey key = key_of(measurement);
  const std::string options = options_of(measurement, entry.result);
  const Parameters work = work_done(entry.result, measurement).work;
  std::vector<TrendSeries>& all = growing.trend.series;
  for (const UnitSpread& figure : figures_of(entry.result, measurement)) {
    std::vector<std::size_t>& places = growing.places[{key, figure.unit, options}];
    const std::size_t place = same_work(places, growing.work, work).value_or(all.size());
    if (place == all.size()) {
      places.push_back(place);
      growing.work.emplace_back();
      all.push_back({.key = key,
                     .options = options,
                     .unit = figure.unit,
                     .aspect = figure.aspect,
                     .points = {}});
    }
    Parameters& known = growing.work[place];
    for (const auto& part : work) {
      const auto same = std::ranges::find(known, part.first, &Parameters::value_type::first);
      if (same == known.end()) known.push_back(part);
    }
    all[place].points.push_back(
        {.entry = entry.number,
         .machine = entry.result.host.machine,
         .begun_s = static_cast<double>(entry.result.started_s().value_or(0)),
         .busy = busy_share(entry.result).value_or(0),
         .started = entry.started,
         .firmware = entry.firmware,
         .complete = entry.result.complete,
         .figure = figure.spread});
  }
}

// The figures with one firmware, as logarithms.
struct FirmwareFigures {
  std::vector<double> states;
  double busy = 0;  // the median share of the results
};

// Without states if the measurement was not made with it.
FirmwareFigures figures_with(const std::string& firmware, std::span<const TrendPoint> points) {
  std::vector<double> begins, logarithms, busy;
  for (const TrendPoint& point : points) {
    if (point.firmware != firmware || !(point.figure.median > 0)) continue;
    begins.push_back(point.begun_s);
    logarithms.push_back(std::log(point.figure.median));
    busy.push_back(point.busy);
  }
  if (begins.empty()) return {};
  return {.states = figures_by_state(begins, logarithms), .busy = median(busy)};
}

// How far the logarithm of the ratio of the figures with the last two of `firmware` is certain with
// 95 % confidence: from the deviations within all if there are enough, otherwise from the
// assumption.
double margin_of(const TrendSeries& series, std::span<const FirmwareFigures> firmware) {
  constexpr double kQuantile = 0.975;
  StateSpread spread;
  for (const FirmwareFigures& one : firmware) spread.add(one.states);
  double shares = 0, busy = 0;
  for (const FirmwareFigures& one : firmware.last(2)) {
    shares += 1 / static_cast<double>(one.states.size());
    busy = std::max(busy, one.busy);
  }
  if (spread.freedom >= kLeastFreedom) {
    return student_quantile(kQuantile, spread.freedom) *
           std::sqrt(spread.variance_of_state() * shares);
  }
  const double assumed = assumed_spread(series.points.back().machine, series.aspect, busy);
  return normal_quantile(kQuantile) * assumed * std::sqrt(shares);
}

void finish(TrendSeries& series, const std::vector<TrendFirmware>& firmware) {
  const std::vector<TrendPoint>& points = series.points;
  series.change = change_of(points);
  std::vector<FirmwareFigures> figures;
  for (const TrendFirmware& revision : firmware) {
    FirmwareFigures one = figures_with(revision.name, points);
    if (!one.states.empty()) figures.push_back(std::move(one));
  }
  if (figures.size() < 2) return;
  const std::vector<double>&last = figures.back().states, &before = figures.rbegin()[1].states;
  const double change = mean(last) - mean(before), margin = margin_of(series, figures);
  series.firmware_change = std::expm1(change);
  series.firmware_interval = {std::expm1(change - margin), std::expm1(change + margin)};
}

// Where only the work distinguishes series, the options tell how.
void add_work(const TrendBuilder& growing, std::vector<TrendSeries>& all) {
  for (const auto& [of, places] : growing.places) {
    for (const std::size_t place : places) {
      for (const auto& part : growing.work[place]) {
        const bool in_all = std::ranges::all_of(
            places, [&](std::size_t other) { return contains(growing.work[other], part); });
        if (!in_all) all[place].options += fmt::format(", {} {}", part.first, part.second);
      }
    }
  }
}

// Keeps the options only if they distinguish series of the same key.
void shorten_options(std::vector<TrendSeries>& all) {
  std::map<std::pair<MeasurementKey, std::string>, int> counts;
  for (const TrendSeries& series : all) ++counts[{series.key, series.unit}];
  for (TrendSeries& one : all) {
    if (counts[{one.key, one.unit}] == 1) one.options.clear();
  }
}

}  // namespace

std::vector<DeviceTrend> trends_of(const HistoryDirectory& history, const TrendFilter& filter) {
  std::vector<TrendBuilder> growing;
  for (const HistoryEntry& entry : history.entries) {
    if (!wanted(filter.devices, entry.device) &&
        !wanted(filter.devices, file_name_of(entry.device))) {
      continue;
    }
    TrendBuilder& builder = trend_for(growing, entry.device);
    std::vector<TrendFirmware>& firmware = builder.trend.firmware;
    if (!contains(firmware, entry.firmware, &TrendFirmware::name)) {
      firmware.push_back({entry.firmware, entry.started});
    }
    for (const Measurement& measurement : entry.result.measurements) {
      if (!wanted(filter.sets, measurement.set) ||
          !wanted(filter.operations, measurement.operation) ||
          !wanted(filter.file_systems, measurement.file_system)) {
        continue;
      }
      const std::string failed = failed_work_text(entry.result, measurement);
      if (failed.empty()) {
        add_point(builder, entry, measurement);
      } else {
        builder.trend.left_out.push_back(fmt::format("result {}, {}: the work was not done: {}",
                                                     entry.number, key_name(key_of(measurement)),
                                                     failed));
      }
    }
  }
  std::vector<DeviceTrend> trends;
  for (TrendBuilder& trend_builder : growing) {
    DeviceTrend& trend = trend_builder.trend;
    if (trend.series.empty() && trend.left_out.empty()) continue;
    for (TrendSeries& series : trend.series) finish(series, trend.firmware);
    add_work(trend_builder, trend.series);
    shorten_options(trend.series);
    trends.push_back(std::move(trend));
  }
  return trends;
}

}  // namespace filereel
