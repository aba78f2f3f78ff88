#include "replay/compare/comparison_formats.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "filesets/system/utf8.h"
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

Json to_json(const ComparedMeasurement& compared) {
  Json json = key_to_json(compared.key);
  json["figure"] = figure_code(compared.figure);
  json["base"] = side_to_json(compared.base);
  json["new"] = side_to_json(compared.fresh);
  put(json, compared.time);
  json["verdict"] = verdict_name(compared.verdict);
  json["aspect"] = aspect_name(compared.aspect);
  json["time_verdict"] = verdict_name(compared.time.verdict);
  if (compared.tail) json["tail"] = to_json(*compared.tail);
  if (compared.stalls) json["stalls"] = to_json(*compared.stalls);
  if (!compared.evidence.empty()) json["evidence"] = compared.evidence;
  if (compared.verdict == Verdict::cannot_tell) json["reason"] = compared.reason();
  if (compared.more_runs) {
    json["more_runs"] = *compared.more_runs;
    json["runs_needed"] = *compared.runs_needed();
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
  for (const ComparedMeasurement& compared : comparison.measurements) {
    measurements.push_back(to_json(compared));
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

Json to_json(const RankedMeasurement& ranked, std::span<const std::string> names) {
  Json json = key_to_json(ranked.key);
  json["figure"] = figure_code(ranked.figure);
  json["ranked"] = ranked.has_ranks();
  if (ranked.runs_needed) json["runs_needed"] = *ranked.runs_needed;
  json["entries"] = Json::array();
  for (const RankedEntry& entry : ranked.entries) {
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
  for (const RankedMeasurement& ranked : ranking.measurements) {
    measurements.push_back(to_json(ranked, ranking.names));
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

namespace {

// https://www.w3.org/TR/xml/#charsets; surrogates are not valid UTF-8 anyway.
bool is_xml(char32_t code) {
  return code == '\t' || code == '\n' || code == '\r' ||
         (code >= 0x20 && code != 0xfffe && code != 0xffff);
}

// Escapes what XML cannot hold.
std::string xml_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::optional<Character> next = first_character(bytes);
    const std::size_t length = next ? next->length : 1;
    if (next && is_xml(next->code)) {
      text += bytes.substr(0, length);
    } else {
      for (const char byte : bytes.substr(0, length)) {
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    bytes.remove_prefix(length);
  }
  return text;
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_text(value).c_str());
}

void set(pugi::xml_node node, const char* name, std::size_t value) {
  set(node, name, std::to_string(value));
}

void add_property(pugi::xml_node properties, std::string_view name, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

pugi::xml_node add_case(pugi::xml_node suite, const MeasurementKey& key, double seconds) {
  pugi::xml_node node = suite.append_child("testcase");
  MeasurementKey nameless = key;
  nameless.workload.clear();
  set(node, "name", key_text(nameless));
  set(node, "classname", "filereel." + key.workload);
  set(node, "time", fmt::format("{:.3f}", seconds));
  return node;
}

void add_outcome(pugi::xml_node test, const char* kind, std::string_view type,
                 std::string_view message) {
  pugi::xml_node node = test.append_child(kind);
  set(node, "type", type);
  set(node, "message", message);
}

}  // namespace

std::string comparison_to_junit(const ResultComparison& comparison) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  const std::size_t tests = comparison.measurements.size() + comparison.only_base.size();
  const std::size_t slower = comparison.count(Verdict::slower);
  pugi::xml_node root = document.append_child("testsuites");
  pugi::xml_node suite = root.append_child("testsuite");
  for (pugi::xml_node node : {root, suite}) {
    set(node, "name", "filereel compare");
    set(node, "tests", tests);
    set(node, "failures", slower);
    set(node, "errors", std::size_t{0});
  }
  set(suite, "skipped", comparison.count(Verdict::cannot_tell) + comparison.only_base.size());
  pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "base", comparison.base_name);
  add_property(properties, "new", comparison.fresh_name);
  add_property(properties, "overall", verdict_name(comparison.overall));
  add_property(properties, "promise", promise_text(comparison));
  add_property(properties, "complete", comparison.complete ? "true" : "false");
  for (const Change& change : comparison.changes) {
    add_property(properties, "changed: " + change.what, change.base + " -> " + change.fresh);
  }
  for (const Warning& warning : comparison.warnings) {
    add_property(properties, "warning: " + warning.code, warning.text);
  }
  for (const ComparedMeasurement& compared : comparison.measurements) {
    pugi::xml_node test = add_case(suite, compared.key, compared.fresh.median);
    if (compared.verdict == Verdict::slower) {
      add_outcome(test, "failure", verdict_text(compared), compared.evidence);
    }
    if (compared.verdict == Verdict::cannot_tell)
      add_outcome(test, "skipped", verdict_text(compared), undecided_text(compared));
  }
  for (const MeasurementKey& key : comparison.only_base) {
    add_outcome(add_case(suite, key, 0), "skipped", "cannot tell", "only in the base result");
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace filereel
