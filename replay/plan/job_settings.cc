#include "replay/plan/job_settings.h"

#include <fmt/format.h>

#include "replay/plan/precision.h"
#include "replay/results/result_limits.h"

namespace filereel {
namespace {

std::vector<std::string> values_of(const YamlValue& value, const JobParameter& parameter) {
  std::vector<std::string> values;
  if (!parameter.has_list()) return {value.text()};
  for (const YamlValue& item : value.list(kMostListItems)) values.push_back(item.text());
  if (values.empty()) value.fail("is empty");
  return values;
}

SweepOverrides read_sweep(const YamlValue& value) {
  SweepOverrides sweep;
  for (const auto& [key, list] : value.items()) {
    std::vector<std::string>& values = sweep[key];
    for (const YamlValue& item : list.list(kMostPoints)) values.push_back(item.text());
    if (values.empty()) list.fail("is empty");
  }
  return sweep;
}

}  // namespace

JobSettings read_settings(const YamlMap& map) {
  JobSettings said;
  for (const JobParameter& parameter : job_parameters()) {
    const YamlValue* value = map.find(parameter.key);
    if (value) said.settings.push_back({&parameter, values_of(*value, parameter), *value});
  }
  if (const YamlValue* value = map.find("sweep")) said.sweep = read_sweep(*value);
  if (const YamlValue* value = map.find("file_systems")) {
    for (const YamlValue& item : value->list(kMostListItems)) {
      try {
        said.file_systems.push_back(parse_file_system(item.text()));
      } catch (const Error& error) {
        fail_at(item, error);
      }
    }
    if (said.file_systems.empty()) value->fail("is empty");
  }
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() != "auto") {
    said.runs = static_cast<std::uint32_t>(runs->whole_number(1, kMostRuns));
  }
  return said;
}

JobSettings read_job_settings(const YamlMap& map) {
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() == "auto")
    runs->fail("cannot be auto for a single job; set it for the whole plan");
  return read_settings(map);
}

std::vector<std::string_view> with_parameters(std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> all(keys);
  for (const JobParameter& parameter : job_parameters()) all.push_back(parameter.key);
  return all;
}

std::optional<AutoRuns> read_auto_runs(const YamlMap& map) {
  std::optional<AutoRuns> automatic;
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() == "auto") automatic.emplace();
  const auto with_auto = [&](std::string_view key) {
    const YamlValue* value = map.find(key);
    if (value && !automatic) value->fail("requires runs: auto");
    return value;
  };
  if (const YamlValue* value = with_auto("precision")) {
    const std::string wrong = read_precision(value->text(), *automatic);
    if (!wrong.empty()) value->fail(wrong);
  }
  if (const YamlValue* value = with_auto("budget")) {
    automatic->budget_s = static_cast<double>(value->duration()) * 1e-9;
    if (automatic->budget_s <= 0) value->fail("must be more than 0");
  }
  if (const YamlValue* value = with_auto("most_runs")) {
    automatic->most = static_cast<std::uint32_t>(value->whole_number(1, kMostRuns));
    automatic->least = std::min(automatic->least, automatic->most);
  }
  if (const YamlValue* value = with_auto("least_runs")) {
    automatic->least = static_cast<std::uint32_t>(value->whole_number(1, kMostRuns));
  }
  if (automatic && automatic->most < automatic->least) {
    map.self().fail(fmt::format("has fewer most_runs ({}) than least_runs ({})", automatic->most,
                                automatic->least));
  }
  return automatic;
}

void fail_at(const YamlValue& place, std::string_view text) {
  throw Error(ErrorKind::unusable_input, fmt::format("{}: {}", place.where(), text));
}

void fail_at(const YamlValue& place, const Error& error) {
  if (error.kind() == ErrorKind::unusable_input) throw Error(error);  // has a place
  fail_at(place, std::string_view(error.what()));
}

void fail_at(const Setting& setting, const ValueError& error) {
  YamlValue place = *setting.place;
  if (setting.parameter->has_list() && error.parts().value) {
    for (const YamlValue& item : place.list(kMostListItems)) {
      if (item.text() != *error.parts().value) continue;
      place = item;
      break;
    }
  }
  if (error.parts().is_predicate) place.fail(error.parts().text);
  fail_at(place, static_cast<const Error&>(error));
}

}  // namespace filereel
