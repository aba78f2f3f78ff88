#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/memory.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "replay/results/members_json.h"
#include "replay/results/result_json.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

const Json& required(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) {
    throw WrongMember{fmt::format("'{}' is missing", key)};
  }
  return json.at(key);
}

const Json& required_list(const Json& json, const char* key) {
  const Json& list = required(json, key);
  if (!list.is_array()) throw WrongMember{fmt::format("'{}' must be a list", key)};
  return list;
}

Sample sample_from_json(const Json& json) {
  Sample sample = json.get<Sample>();
  if (const auto found = json.find("divergences"); found != json.end()) {
    get(*found, "count", sample.divergences);
    get(*found, "examples", sample.examples);
    if (sample.reel) {
      const Json classes = found->value("by_class", Json::object());  // outlives its items()
      for (const auto& [name, count] : classes.items()) {
        sample.reel->divergences[name] = convert<std::uint64_t>(count, "by_class");
      }
    }
  }
  return sample;
}

Plan plan_from_json(const Json& json) {
  Plan plan;
  get(json, "name", plan.name);
  get(json, "workload", plan.workload);
  for (const Json& name : json.value("file_systems", Json::array())) {
    plan.file_systems.push_back(parse_file_system(name.get<std::string>()));
  }
  get(json, "sets", plan.sets);
  for (const Json& name : json.value("operations", Json::array())) {
    plan.operations.push_back(parse_fc_step(name.get<std::string>()));
  }
  get(json, "runs", plan.runs);
  get(json, "auto_runs", plan.auto_runs);
  const Json values = json.value("parameters", Json::object());
  get(values, "block_size", plan.fc_test.block_size);
  if (const auto found = values.find("copy_method"); found != values.end()) {
    plan.fc_test.copy_method = parse_copy_method(found->get<std::string>());
  }
  get(values, "threads", plan.fc_test.threads);
  get(values, "scale", plan.scale);
  get(values, "warm", plan.warm);
  return plan;
}

VolumeDescription volume_from_json(const Json& json) {
  VolumeDescription volume = json.get<VolumeDescription>();
  volume.role = json.value("role", "near") == "far" ? Role::far : Role::near;
  // Schema version 1 has one drive for each volume, which tells nothing where it was not known.
  DeviceIdentity device;
  get(json, "device", device);
  if (volume.drives.empty() && device != DeviceIdentity{}) volume.drives = {std::move(device)};
  return volume;
}

Measurement measurement_from_json(const Json& json) {
  Measurement measurement;
  get(json, "workload", measurement.workload);
  get(json, "set", measurement.set);
  get(json, "operation", measurement.operation);
  get(json, "file_system", measurement.file_system);
  get(json, "driver", measurement.driver);
  const Json parameters = json.value("parameters", Json::object());
  if (measurement.workload == kReelWorkload) {
    measurement.reel = parameters.get<ReelParameters>();
  } else if (measurement.workload != kFcTestWorkload) {
    for (const auto& [axis, value] : parameters.items()) {
      if (value.is_string()) measurement.parameters.emplace_back(axis, value.get<std::string>());
    }
    get(json, "replay", measurement.reel);
  }
  get(json, "runs_ended", measurement.runs_ended);
  get(json, "access", measurement.access);
  for (const Json& sample : required_list(json, "samples")) {
    measurement.samples.push_back(sample_from_json(sample));
  }
  return measurement;
}

// The matrices follow from the measurements; what only they tell is the axes.
void read_sweep(const Json& json, std::vector<SweptWorkload>& sweeps) {
  SweptWorkload sweep;
  get(json, "workload", sweep.workload);
  sweep.axes = required_list(json, "axes").get<std::vector<SweepAxis>>();
  const std::uint64_t points = points_of(sweep.axes);
  if (sweep.axes.empty() || points == 0 || points > kMostPoints) {
    throw WrongMember{fmt::format("a sweep has 1 to {} points", kMostPoints)};
  }
  if (sweep.axes.size() > kMostAxes) {
    throw WrongMember{fmt::format("a sweep has at most {} axes", kMostAxes)};
  }
  const auto same = [&](const SweptWorkload& other) { return other.workload == sweep.workload; };
  if (std::ranges::none_of(sweeps, same)) sweeps.push_back(std::move(sweep));
}

Result read_result(const Json& json) {
  Result result;
  get(required(json, "filereel"), "version", result.version);
  get(json, "started", result.started);
  get(json, "label", result.label);
  get(json, "note", result.note);
  get(json, "serials_hidden", result.serials_hidden);
  get(json, "host", result.host);
  for (const Json& one : required_list(json, "volumes"))
    result.volumes.push_back(volume_from_json(one));
  result.plan = plan_from_json(required(json, "plan"));
  get(json, "overhead_ns_per_operation", result.overhead_ns);
  get(json, "complete", result.complete);
  get(json, "warnings", result.warnings);
  get(json, "escaped_names", result.escaped_names);
  get(json, "block_baselines", result.baselines);
  for (const Json& one : required_list(json, "measurements")) {
    result.measurements.push_back(measurement_from_json(one));
  }
  for (const Json& one : json.value("sweeps", Json::array())) read_sweep(one, result.sweeps);
  return result;
}

}  // namespace

Result result_from_json(std::string_view text, std::string_view name) {
  const auto refuse = [&](std::string_view why) -> Error {
    return {ErrorKind::unusable_input, fmt::format("{}: {}", name, why)};
  };
  if (text.size() > kMostResultBytes) {
    throw refuse(fmt::format("is longer than {}, the most that is read of a result",
                             format_size(kMostResultBytes)));
  }
  if (const std::string excess = excess_of_json(text); !excess.empty()) {
    throw refuse(fmt::format("is not a filereel result ({})", excess));
  }
  // Json's destructor needs memory and ends the process where there is none.
  constexpr std::size_t kPerByte = 24;
  const std::string what = fmt::format("the result '{}'", printable(name));
  require_memory(kPerByte * text.size(), what);
  try {
    const Json json = Json::parse(text);
    std::int64_t version = 0;
    if (json.is_object()) get(json, "schema_version", version);
    if (version < 1) throw refuse("is not a filereel result: it has no schema_version");
    if (version > Result::kSchemaVersion) {
      throw refuse(
          fmt::format("was written by a newer filereel (schema version {}, this one reads "
                      "up to {}): update filereel",
                      version, Result::kSchemaVersion));
    }
    Result result = read_result(json);
    if (const std::string excess = excess_of(result); !excess.empty()) throw WrongMember{excess};
    return result;
  } catch (const std::bad_alloc&) {
    fail_for_memory(what);
  } catch (const Json::parse_error& error) {
    throw refuse(fmt::format(
        "is not JSON at byte {}: name a result that `filereel run --json` wrote", error.byte));
  } catch (const Json::exception& error) {
    throw refuse(fmt::format("is not a filereel result ({})", error.what()));
  } catch (const WrongMember& wrong) {
    throw refuse(fmt::format("is not a filereel result ({})", wrong.why));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unusable_input) throw;
    throw refuse(error.what());
  }
}

}  // namespace filereel
