#include "replay/compare/comparison_json.h"

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/compare/ranking_json.h"
#include "replay/json.h"

namespace filereel {
namespace {

// Six digits. More would differ between C libraries.
double brief(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

void put(Json& json, const AspectResult& answer) {
  if (answer.p) json["ratio"] = brief(answer.ratio);
  put_interval(json, "ratio_interval_95", answer.ratio_interval);
  if (answer.p) json["p"] = brief(*answer.p);
  if (answer.p_holm) json["p_holm"] = brief(*answer.p_holm);
  if (answer.p) json["basis"] = basis_name(answer.basis);
  if (const auto provable = answer.provable_change()) json["provable"] = brief(*provable);
  if (answer.indicated) json["indicated"] = verdict_name(*answer.indicated);
}

Json to_json(const ComparedTail& tail) {
  Json json = {{"operation", tail.kind},
               {"percentile", tail.percentile},
               {"base_us", tail.base_us},
               {"new_us", tail.fresh_us},
               {"verdict", verdict_name(tail.answer.verdict)}};
  put(json, tail.answer);
  return json;
}

Json to_json(const StallSide& side) {
  return {{"stalls", side.stalls},
          {"operations", side.operations},
          {"share_of_time", side.share_of_time}};
}

Json to_json(const ComparedStalls& stalls) {
  Json json = {{"threshold_us", stalls.threshold_us},
               {"base", to_json(stalls.base)},
               {"new", to_json(stalls.fresh)},
               {"verdict", verdict_name(stalls.answer.verdict)}};
  put(json, stalls.answer);
  return json;
}

Json to_json(const ComparedMeasurement& one) {
  Json json = key_to_json(one.key);
  json["figure"] = figure_code(one.figure);
  json["base"] = side_to_json(one.base);
  json["new"] = side_to_json(one.fresh);
  put(json, one.time);
  json["verdict"] = verdict_name(one.verdict);
  json["aspect"] = aspect_name(one.aspect);
  json["time_verdict"] = verdict_name(one.time.verdict);
  if (one.tail) json["tail"] = to_json(*one.tail);
  if (one.stalls) json["stalls"] = to_json(*one.stalls);
  if (!one.evidence.empty()) json["evidence"] = one.evidence;
  if (one.verdict == Verdict::cannot_tell) json["reason"] = one.reason();
  if (one.more_runs) {
    json["more_runs"] = *one.more_runs;
    json["runs_needed"] = *one.runs_needed();
  }
  return json;
}

}  // namespace

Json key_to_json(const MeasurementKey& key) {
  Json parameters = Json::object();
  for (const auto& [name, value] : key.parameters) parameters[name] = value;
  return {{"workload", key.workload},
          {"set", key.set},
          {"operation", key.operation},
          {"file_system", key.file_system},
          {"parameters", std::move(parameters)}};
}

Json keys_to_json(std::span<const MeasurementKey> keys) {
  Json list = Json::array();
  for (const MeasurementKey& key : keys) list.push_back(key_to_json(key));
  return list;
}

void put_interval(Json& json, const char* key, const std::optional<Interval>& interval) {
  if (interval) json[key] = {{"low", brief(interval->low)}, {"high", brief(interval->high)}};
}

Json side_to_json(const ComparedSide& side) {
  Json json = {{"samples", side.samples}, {"left_out", side.left_out}};
  if (side.samples > 0) json["median_s"] = side.median;
  if (side.operations_per_s) json["operations_per_s"] = *side.operations_per_s;
  put_interval(json, "interval_95", side.interval);
  return json;
}

std::string_view figure_code(Figure figure) {
  switch (figure) {
    case Figure::durable:
      return "durable";
    case Figure::elapsed:
      return "elapsed";
    case Figure::per_operation:
      return "per_operation";
    case Figure::in_calls:
      break;
  }
  return "in_calls";
}

Json warnings_to_json(std::span<const Warning> warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings) {
    list.push_back(
        {{"code", warning.code}, {"text", warning.text}, {"next_step", warning.next_step}});
  }
  return list;
}

std::string comparison_to_json(const ResultComparison& comparison, std::span<const Index> indexes) {
  Json counts = Json::object();
  for (const Verdict verdict :
       {Verdict::slower, Verdict::faster, Verdict::same, Verdict::cannot_tell}) {
    counts[std::string(verdict_name(verdict))] = comparison.count(verdict);
  }
  counts["indicated"] = comparison.indicated();
  Json changes = Json::array();
  for (const Change& change : comparison.changes) {
    changes.push_back({{"kind", change_kind_name(change.kind)},
                       {"what", change.what},
                       {"base", change.base},
                       {"new", change.fresh}});
  }
  Json measurements = Json::array();
  for (const ComparedMeasurement& one : comparison.measurements) {
    measurements.push_back(to_json(one));
  }
  Json json = {{"schema_version", kComparisonSchemaVersion},
               {"filereel", {{"version", FILEREEL_VERSION}}},
               {"base", comparison.base_name},
               {"new", comparison.fresh_name},
               {"threshold", comparison.options.threshold},
               {"false_alarms", comparison.options.false_alarms},
               {"promise", promise_text(comparison)},
               {"complete", comparison.complete},
               {"overall", verdict_name(comparison.overall)},
               {"counts", std::move(counts)},
               {"changes", std::move(changes)},
               {"warnings", warnings_to_json(comparison.warnings)},
               {"measurements", std::move(measurements)},
               {"only_in_base", keys_to_json(comparison.only_base)},
               {"only_in_new", keys_to_json(comparison.only_fresh)}};
  const ControlUse& control = comparison.control;
  if (control.used || !control.obstacle.empty()) {
    json["control"] = {{"used", control.used}, {"ratio", control.change()}};
    if (!control.used) json["control"]["obstacle"] = control.obstacle;
  }
  if (const auto& across = comparison.across) {
    json["across"] = {{"base", across->base}, {"new", across->fresh}};
  }
  const std::array<std::string, 2> names = {comparison.base_name, comparison.fresh_name};
  if (!indexes.empty()) json["indexes"] = indexes_to_json(indexes, names);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace filereel
