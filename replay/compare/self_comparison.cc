#include "replay/compare/self_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/search.h"
#include "replay/compare/comparison_formats.h"
#include "replay/json.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr std::size_t kLeastForHalves = 6;

std::vector<std::pair<std::size_t, std::size_t>> chosen_pairs(std::size_t sessions) {
  std::vector<std::pair<std::size_t, std::size_t>> all, chosen;
  for (std::size_t i = 0; i < sessions; ++i) {
    for (std::size_t j = i + 1; j < sessions; ++j) all.emplace_back(i, j);
  }
  const std::size_t count = std::min(all.size(), kMostSelfComparisons);
  for (std::size_t k = 0; k < count; ++k) chosen.push_back(all[k * all.size() / count]);
  return chosen;
}

bool is_change(Verdict verdict) {
  return verdict == Verdict::slower || verdict == Verdict::faster;
}

// What the comparisons say of a measurement.
struct SelfFigures {
  std::map<std::size_t, double> medians = {};  // by session
  std::vector<double> provable = {};           // infinite if none
  std::size_t alarms = 0, indications = 0;
};

SelfMeasurement summary_of(const MeasurementKey& key, const SelfFigures& figures) {
  SelfMeasurement one{
      .key = key, .false_alarms = figures.alarms, .false_indications = figures.indications};
  std::vector<double> medians, logarithms;
  for (const auto& [session, figure] : figures.medians) {
    medians.push_back(figure);
    logarithms.push_back(std::log(figure));
  }
  if (!medians.empty()) one.median_s = median(medians);
  if (medians.size() > 1) one.spread = std::sqrt(variance(logarithms));
  const double provable =
      figures.provable.empty() ? std::numeric_limits<double>::infinity() : median(figures.provable);
  if (std::isfinite(provable)) one.provable = provable;
  return one;
}

void compare_halves(std::span<const Result> sessions, const CompareOptions& options,
                    SelfComparison& self) {
  if (sessions.size() < kLeastForHalves) return;
  const std::size_t half = sessions.size() / 2;
  const ResultComparison comparison =
      compare_results(sessions.first(half), sessions.last(half), options);
  self.halves = half;
  self.level_of_halves = level_of(comparison);
  for (const ComparedMeasurement& compared : comparison.measurements) {
    auto* const found = find_or_null(self.measurements, compared.key, &SelfMeasurement::key);
    if (found) found->provable_of_halves = compared.time.provable;
  }
}

}  // namespace

SelfComparison compare_with_itself(std::span<const Result> sessions,
                                   const CompareOptions& options) {
  SelfComparison self{.sessions = sessions.size()};
  std::vector<MeasurementKey> order;
  std::map<MeasurementKey, SelfFigures> figures;
  for (const auto& [first, second] : chosen_pairs(sessions.size())) {
    const ResultComparison comparison =
        compare_results(sessions.subspan(first, 1), sessions.subspan(second, 1), options);
    ++self.comparisons;
    bool alarm = false;
    for (const ComparedMeasurement& compared : comparison.measurements) {
      if (!compared.time.p) continue;
      const auto [place, is_new] = figures.try_emplace(compared.key);
      if (is_new) order.push_back(compared.key);
      SelfFigures& of = place->second;
      of.medians[first] = compared.base.median;
      of.medians[second] = compared.fresh.median;
      of.provable.push_back(
          compared.time.provable.value_or(std::numeric_limits<double>::infinity()));
      of.alarms += is_change(compared.verdict) ? 1 : 0;
      of.indications += compared.indicated() ? 1 : 0;
      alarm = alarm || is_change(compared.verdict);
    }
    self.alarms += alarm ? 1 : 0;
    self.indications += comparison.indicated() > 0 ? 1 : 0;
    if (self.level.empty()) self.level = level_of(comparison);
  }
  for (const MeasurementKey& key : order) {
    self.measurements.push_back(summary_of(key, figures[key]));
  }
  compare_halves(sessions, options, self);
  std::vector<std::span<const Result>> each;
  for (const Result& session : sessions) each.emplace_back(&session, 1);
  self.differences = differences_among(each);
  return self;
}

std::string self_comparison_to_json(const SelfComparison& self) {
  Json measurements = Json::array();
  for (const SelfMeasurement& measurement : self.measurements) {
    Json& json = measurements.emplace_back(key_to_json(measurement.key));
    json["median_s"] = measurement.median_s;
    json["spread"] = measurement.spread;
    json["false_alarms"] = measurement.false_alarms;
    json["false_indications"] = measurement.false_indications;
    if (measurement.provable) json["provable"] = *measurement.provable;
    if (measurement.provable_of_halves)
      json["provable_of_halves"] = *measurement.provable_of_halves;
  }
  Json json = {{"schema_version", kComparisonSchemaVersion},
               {"filereel", {{"version", FILEREEL_VERSION}}},
               {"sessions", self.sessions},
               {"comparisons", self.comparisons},
               {"false_alarms", self.alarms},
               {"false_indications", self.indications},
               {"level", self.level}};
  if (self.halves > 0) {
    json["halves"] = {{"sessions", self.halves}, {"level", self.level_of_halves}};
  }
  json["measurements"] = std::move(measurements);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace filereel
