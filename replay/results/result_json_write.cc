// Writes results: most members from the lists of result_members.h, in lines that people can read.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/json.h"
#include "replay/results/json_members.h"
#include "replay/results/metrics.h"
#include "replay/results/result_json.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

// Line length. A result has thousands of small objects, so several share a line.
constexpr std::size_t kLine = 180;

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Printed {
  std::string text;
  bool one_line = true;
};

// Children first. Values that fit are written on one line. Otherwise plain values share lines, and
// each list or object starts a new one.
Printed print(const Json& json, std::size_t indent) {
  if (!json.is_structured() || json.empty()) return {one_line(json)};
  const std::size_t inner = indent + 2;
  std::vector<Printed> members;
  std::size_t length = inner;
  bool fits = true;
  for (const auto& [key, value] : json.items()) {
    Printed member = print(value, inner);
    fits = fits && member.one_line;
    if (json.is_object()) member.text.insert(0, one_line(Json(key)) + ": ");
    length += member.text.size() + 2;
    member.one_line = !value.is_structured();
    members.push_back(std::move(member));
  }
  fits = fits && length <= kLine;
  const std::string line = "\n" + std::string(inner, ' ');
  std::string text = (json.is_object() ? "{" : "[") + (fits ? "" : line);
  std::size_t column = inner;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::size_t size = members[i].text.size() + 2;
    if (i > 0) {
      const bool shares = members[i].one_line && members[i - 1].one_line && column + size <= kLine;
      text += fits || shares ? ", " : "," + line;
      if (!shares) column = inner;
    }
    text += members[i].text;
    column += size;
  }
  if (!fits) text += "\n" + std::string(indent, ' ');
  text += json.is_object() ? '}' : ']';
  return {std::move(text), fits};
}

Json sample_json(const Sample& sample) {
  Json json = sample;
  json["divergences"] = {{"count", sample.divergences}, {"examples", sample.examples}};
  if (sample.reel) json["divergences"]["by_class"] = sample.reel->divergences;
  return json;
}

Json object_of(const Parameters& parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters) json[name] = value;
  return json;
}

Json measurement_json(const Measurement& measurement) {
  Json json = {{"kind", info_of(measurement.kind).name},
               {"workload", measurement.workload},
               {"set", measurement.set},
               {"operation", measurement.operation},
               {"file_system", measurement.file_system},
               {"driver", measurement.driver},
               {"parameters", object_of(measurement.parameters)}};
  if (measurement.ends) json["ends"] = phase_end_name(*measurement.ends);
  if (measurement.without_bytes_read) json["without_bytes_read"] = true;
  put(json, "without_direct_io", measurement.without_direct_io);
  put(json, "replay", measurement.replay);
  if (!measurement.work_digest.empty()) json["work"] = measurement.work_digest;
  put(json, "access", measurement.access);
  json["samples"] = Json::array();
  for (const Sample& sample : measurement.samples) json["samples"].push_back(sample_json(sample));
  if (!measurement.earlier_rounds.empty()) json["earlier_rounds"] = measurement.earlier_rounds;
  if (!measurement.runs_ended.empty()) json["runs_ended"] = measurement.runs_ended;
  json["summary"] = measurement.summary();
  return json;
}

// The figures of the points starting at `first`, nested by the axes starting at `axis`.
Json matrix(const std::vector<std::optional<Spread>>& figures, const std::vector<SweepAxis>& axes,
            std::size_t axis, std::size_t& first) {
  if (axis == axes.size()) {
    const std::optional<Spread>& figure = figures[first++];
    return figure ? Json(figure->median) : Json(nullptr);
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < axes[axis].values.size(); ++i) {
    list.push_back(matrix(figures, axes, axis + 1, first));
  }
  return list;
}

void add_matrices(Json& list, const Result& result, const JobRecord& job) {
  for (const SweepCells& cells : cells_of(result, job)) {
    Json& json = list.emplace_back(Json{{"workload", job.name},
                                        {"set", cells.set},
                                        {"file_system", cells.file_system},
                                        {"operation", cells.operation},
                                        {"axes", job.axes}});
    for (const Metric& metric : metrics()) {
      std::vector<std::optional<Spread>> figures;
      for (const Measurement* point : cells.points) {
        figures.push_back(point ? spread_of(metric, result, *point) : std::nullopt);
      }
      if (std::ranges::none_of(figures, [](const auto& one) { return one.has_value(); })) continue;
      std::size_t first = 0;
      json[std::string(metric.name)] = matrix(figures, job.axes, 0, first);
    }
  }
}

Json plan_json(const PlanRecord& plan) {
  Json json = plan;
  json["jobs"] = Json::array();
  for (const JobRecord& job : plan.jobs) {
    Json& item = json["jobs"].emplace_back(Json{{"kind", info_of(job.kind).name}});
    put_members(item, job);
    item["settings"] = object_of(job.settings);
  }
  return json;
}

Json volume_json(const VolumeDescription& volume) {
  Json json = {{"role", role_name(volume.role)}};
  put_members(json, volume);
  // The only drive in schema version 1, for programs that know no newer one.
  json["device"] = volume.drives.empty() ? DeviceIdentity{} : volume.drives.front();
  return json;
}

Json volumes_json(const Result& result) {
  Json list = Json::array();
  for (const VolumeDescription& volume : result.volumes) list.push_back(volume_json(volume));
  return list;
}

Json measurements_json(const Result& result) {
  Json list = Json::array();
  for (const Measurement& measurement : result.measurements)
    list.push_back(measurement_json(measurement));
  return list;
}

}  // namespace

std::string sample_to_json(const Sample& sample) {
  return one_line(sample_json(sample));
}

std::string result_to_json(const Result& result) {
  Json json;
  json["schema_version"] = Result::kSchemaVersion;
  json["filereel"] = {{"version", result.version}};
  json["started"] = result.started;
  if (!result.session.empty()) json["session"] = result.session;
  if (!result.label.empty()) json["label"] = result.label;
  if (!result.note.empty()) json["note"] = result.note;
  if (result.serials_hidden) json["serials_hidden"] = true;
  json["host"] = result.host;
  json["volumes"] = volumes_json(result);
  json["plan"] = plan_json(result.plan);
  json["complete"] = result.complete;
  json["warnings"] = result.warnings;
  if (!result.escaped_names.empty()) json["escaped_names"] = result.escaped_names;
  if (!result.baselines.empty()) json["block_baselines"] = result.baselines;
  json["measurements"] = measurements_json(result);
  for (const Result& control : result.control) {
    json["control"] = {{"volumes", volumes_json(control)},
                       {"warnings", control.warnings},
                       {"measurements", measurements_json(control)}};
  }
  Json matrices = Json::array();
  for (const JobRecord& job : result.plan.jobs) {
    if (!job.axes.empty()) add_matrices(matrices, result, job);
  }
  if (!matrices.empty()) json["sweeps"] = std::move(matrices);
  return print(json, 0).text + "\n";
}

}  // namespace filereel
