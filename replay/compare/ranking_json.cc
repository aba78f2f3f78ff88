#include "replay/compare/ranking_json.h"

#include <utility>

#include "replay/compare/comparison_json.h"
#include "replay/json.h"

namespace filereel {
namespace {

Json names_of(const std::vector<std::size_t>& groups, std::span<const std::string> names) {
  Json list = Json::array();
  for (const std::size_t group : groups) list.push_back(names[group]);
  return list;
}

Json to_json(const RankedEntry& entry, std::span<const std::string> names) {
  Json json = {{"name", names[entry.group]},
               {"rank", entry.rank},
               {"last_rank", entry.last_rank},
               {"faster", names_of(entry.faster, names)},
               {"indicated_faster", names_of(entry.indicated, names)}};
  json.update(side_to_json(entry.side));
  if (entry.comparable) json["ratio"] = entry.ratio;
  if (!entry.reason.empty()) json["reason"] = entry.reason;
  return json;
}

Json to_json(const RankedMeasurement& one, std::span<const std::string> names) {
  Json json = key_to_json(one.key);
  json["figure"] = figure_code(one.figure);
  json["ranked"] = one.has_ranks();
  if (one.runs_needed) json["runs_needed"] = *one.runs_needed;
  json["entries"] = Json::array();
  for (const RankedEntry& entry : one.entries) {
    json["entries"].push_back(to_json(entry, names));
  }
  return json;
}

Json to_json(const IndexValue& value, const std::string& name) {
  Json json = {{"name", name}, {"value", value.value}};
  put_interval(json, "interval_95", value.interval);
  if (value.relative) json["relative"] = *value.relative;
  put_interval(json, "relative_interval_95", value.relative_interval);
  if (value.storage) {
    json["mb_per_s"] = value.storage->mb_per_s;
    json["access_us"] = value.storage->access_us;
  }
  return json;
}

}  // namespace

Json indexes_to_json(std::span<const Index> indexes, std::span<const std::string> names) {
  Json list = Json::array();
  for (const Index& index : indexes) {
    Json& json = list.emplace_back(Json{{"name", index.definition.name},
                                        {"patterns", index.definition.patterns},
                                        {"metric", index.definition.metric},
                                        {"out_of", index.out_of},
                                        {"more_is_better", index.more_is_better},
                                        {"unit", index.unit},
                                        {"measurements", keys_to_json(index.measurements)},
                                        {"left_out", keys_to_json(index.left_out)},
                                        {"entries", Json::array()}});
    if (!index.plan.empty()) json["plan"] = index.plan;
    if (index.reference) json["reference"] = names[*index.reference];
    for (std::size_t i = 0; i < index.values.size(); ++i) {
      json["entries"].push_back(to_json(index.values[i], names[i]));
    }
  }
  return list;
}

std::string ranking_to_json(const Ranking& ranking, std::span<const Index> indexes) {
  Json measurements = Json::array();
  for (const RankedMeasurement& one : ranking.measurements) {
    measurements.push_back(to_json(one, ranking.names));
  }
  const Json json = {{"schema_version", kComparisonSchemaVersion},
                     {"filereel", {{"version", FILEREEL_VERSION}}},
                     {"entries", ranking.names},
                     {"threshold", ranking.options.threshold},
                     {"false_alarms", ranking.options.false_alarms},
                     {"level", ranking.level},
                     {"complete", ranking.complete},
                     {"warnings", warnings_to_json(ranking.warnings)},
                     {"rankings", std::move(measurements)},
                     {"left_out", keys_to_json(ranking.left_out)},
                     {"indexes", indexes_to_json(indexes, ranking.names)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace filereel
