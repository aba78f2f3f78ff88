#include "replay/history/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/random.h"
#include "filesets/system/units.h"
#include "replay/compare/sessions.h"
#include "replay/history/entry_name.h"
#include "replay/results/latency.h"
#include "replay/statistics/order.h"
#include "replay/statistics/student.h"

namespace filereel {
namespace {

bool wanted(const std::vector<std::string>& list, std::string_view one) {
  return list.empty() || std::ranges::find(list, one) != list.end();
}

struct UnitSpread {
  std::string unit;
  Spread spread;
};

void add_rate(const Measurement& measurement, std::vector<UnitSpread>& figures) {
  const Summary summary = measurement.summary();
  const bool counts = !info_of(measurement.kind).by_set;
  if (counts && summary.operations_per_s) {
    figures.push_back({"operations/s", *summary.operations_per_s});
  } else if (summary.mb_per_s) {
    figures.push_back({"MB/s", *summary.mb_per_s});
  } else if (summary.files_per_s) {
    figures.push_back({"files/s", *summary.files_per_s});
  }
}

void add_tails(const Measurement& measurement, std::vector<UnitSpread>& figures) {
  if (measurement.samples.empty()) return;
  for (const auto& [kind, latency] : measurement.samples.front().latency) {
    const Percentile* tail = tail_percentile(measurement.median_count(kind));
    if (!tail) continue;
    const auto spread = measurement.latency(kind, tail->figure);
    if (spread) figures.push_back({fmt::format("µs {} {}", tail->name, kind), *spread});
  }
}

std::vector<UnitSpread> figures_of(const Measurement& measurement) {
  std::vector<UnitSpread> figures;
  add_rate(measurement, figures);
  add_tails(measurement, figures);
  return figures;
}

// Settings that affect the figures but are not in the key.
std::string options_of(const Measurement& measurement, const Result& result) {
  return settings_text(result.job_of(measurement), result.volumes) + ", driver " +
         measurement.driver;
}

double change_between(double before, double after) {
  return before > 0 ? after / before - 1 : 0;
}

// A device's trend under construction, with the index of each series by key, unit and options.
struct TrendBuilder {
  DeviceTrend trend;
  std::map<std::tuple<MeasurementKey, std::string, std::string>, std::size_t> places = {};
};

TrendBuilder& trend_for(std::vector<TrendBuilder>& trends, const std::string& device) {
  const auto found = std::ranges::find_if(
      trends, [&](const TrendBuilder& one) { return one.trend.device == device; });
  if (found != trends.end()) return *found;
  return trends.emplace_back(TrendBuilder{{.device = device, .firmware = {}, .series = {}}});
}

void add_point(TrendBuilder& growing, const HistoryEntry& entry, const Measurement& measurement) {
  const MeasurementKey key = key_of(measurement);
  const std::string options = options_of(measurement, entry.result);
  std::vector<TrendSeries>& all = growing.trend.series;
  for (const UnitSpread& one : figures_of(measurement)) {
    const auto [place, is_new] = growing.places.try_emplace({key, one.unit, options}, all.size());
    if (is_new) all.push_back({.key = key, .options = options, .unit = one.unit, .points = {}});
    all[place->second].points.push_back(
        {.entry = entry.number,
         .machine = entry.result.host.machine,
         .begun_s = static_cast<double>(entry.result.started_s().value_or(0)),
         .started = entry.started,
         .firmware = entry.firmware,
         .complete = entry.result.complete,
         .figure = one.spread});
  }
}

// The medians of the results with a firmware.
std::vector<double> medians_with(const std::string& firmware, std::span<const TrendPoint> points) {
  std::vector<double> medians;
  for (const TrendPoint& point : points) {
    if (point.firmware == firmware && point.figure.median > 0) {
      medians.push_back(point.figure.median);
    }
  }
  return medians;
}

// The logarithms of the figures with a firmware; of results that begin within kSameState of each
// other, the median.
std::vector<double> states_with(const std::string& firmware, std::span<const TrendPoint> points) {
  std::vector<double> states, state;
  double first = 0;
  for (const TrendPoint& point : points) {
    if (point.firmware != firmware || !(point.figure.median > 0)) continue;
    if (!state.empty() && point.begun_s - first >= kSameState) {
      states.push_back(median(state));
      state.clear();
    }
    if (state.empty()) first = point.begun_s;
    state.push_back(std::log(point.figure.median));
  }
  if (!state.empty()) states.push_back(median(state));
  return states;
}

// The margin of the ratio of the figures with two firmware revisions: from the deviations within
// all revisions if there are enough, otherwise from the assumption.
double margin_of(const TrendSeries& series, const std::vector<TrendFirmware>& firmware,
                 const std::string& one, const std::string& other) {
  constexpr double kQuantile = 0.975;
  double squares = 0, freedom = 0;
  for (const TrendFirmware& revision : firmware) {
    const std::vector<double> states = states_with(revision.name, series.points);
    if (states.size() < 2) continue;
    freedom += static_cast<double>(states.size() - 1);
    squares += variance(states) * static_cast<double>(states.size() - 1);
  }
  const auto share = [&](const std::string& name) {
    return 1 / static_cast<double>(states_with(name, series.points).size());
  };
  const double shares = std::sqrt(share(one) + share(other));
  if (freedom >= kLeastFreedom) {
    return std::expm1(student_quantile(kQuantile, freedom) * std::sqrt(squares / freedom) * shares);
  }
  const Aspect aspect = series.unit.starts_with("µs") ? Aspect::tail : Aspect::time;
  const double spread = assumed_spread(series.points.back().machine, aspect, 0);
  return std::expm1(normal_quantile(kQuantile) * spread * shares);
}

void finish(TrendSeries& series, const std::vector<TrendFirmware>& firmware) {
  const std::vector<TrendPoint>& points = series.points;
  series.change = change_between(points.front().figure.median, points.back().figure.median);
  // The last two firmware revisions with this measurement.
  const TrendFirmware* last = nullptr;
  for (auto revision = firmware.rbegin(); revision != firmware.rend(); ++revision) {
    const std::vector<double> medians = medians_with(revision->name, points);
    if (medians.empty()) continue;
    if (last) {
      series.firmware_change =
          change_between(median(medians), median(medians_with(last->name, points)));
      series.firmware_margin = margin_of(series, firmware, revision->name, last->name);
      return;
    }
    last = &*revision;
  }
}

// Keeps the options only if they distinguish series of the same key.
void shorten_options(std::vector<TrendSeries>& all) {
  std::map<std::pair<MeasurementKey, std::string>, int> counts;
  for (const TrendSeries& one : all) ++counts[{one.key, one.unit}];
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
    TrendBuilder& one = trend_for(growing, entry.device);
    std::vector<TrendFirmware>& firmware = one.trend.firmware;
    if (std::ranges::find(firmware, entry.firmware, &TrendFirmware::name) == firmware.end()) {
      firmware.push_back({entry.firmware, entry.started});
    }
    for (const Measurement& measurement : entry.result.measurements) {
      if (wanted(filter.sets, measurement.set) &&
          wanted(filter.operations, measurement.operation) &&
          wanted(filter.file_systems, measurement.file_system)) {
        add_point(one, entry, measurement);
      }
    }
  }
  std::vector<DeviceTrend> trends;
  for (TrendBuilder& one : growing) {
    DeviceTrend& trend = one.trend;
    if (trend.series.empty()) continue;
    for (TrendSeries& series : trend.series) finish(series, trend.firmware);
    shorten_options(trend.series);
    trends.push_back(std::move(trend));
  }
  return trends;
}

}  // namespace filereel
