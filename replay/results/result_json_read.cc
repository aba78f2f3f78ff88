#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/memory.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "replay/parse_json.h"
#include "replay/results/members_json.h"
#include "replay/results/result_json.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

constexpr std::string_view kUnexpectedType = "a value has an unexpected type";

const Json& required(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) {
    throw SchemaError{fmt::format("'{}' is missing", key)};
  }
  return json.at(key);
}

const Json& required_list(const Json& json, const char* key) {
  const Json& list = required(json, key);
  if (!list.is_array()) throw SchemaError{fmt::format("'{}' must be a list", key)};
  return list;
}

// A member with members of its own; an empty one if it is missing.
Json object_or_empty(const Json& json, const char* key) {
  Json object = Json::object();
  get(json, key, object);
  if (!object.is_object()) throw SchemaError{fmt::format("'{}' must be an object", key)};
  return object;
}

// Calls `read` for each item of a list.
template <class Read>
void for_each_in(const Json& json, const char* key, const Read& read) {
  const Json& list = required_list(json, key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    inside(fmt::format("{}[{}]", key, i), [&] { read(list[i]); });
  }
}

Sample read_sample(const Json& json) {
  Sample sample = json.get<Sample>();
  // The location in schema versions 1 and 2.
  if (const auto found = json.find("reel"); found != json.end()) get(*found, "tree", sample.tree);
  if (const auto found = json.find("divergences"); found != json.end()) {
    get(*found, "count", sample.divergences);
    get(*found, "examples", sample.examples);
    if (sample.reel) {
      const Json classes = object_or_empty(*found, "by_class");  // outlives its items()
      for (const auto& [name, count] : classes.items()) {
        sample.reel->divergences[name] = convert<std::uint64_t>(count, "by_class");
      }
    }
  }
  return sample;
}

Parameters parameters_from_json(const Json& json, const char* key) {
  Parameters parameters;
  const Json values = object_or_empty(json, key);  // outlives its items()
  for (const auto& [name, value] : values.items()) {
    if (value.is_string()) parameters.emplace_back(name, value.get<std::string>());
  }
  return parameters;
}

PhaseEnd phase_end_from_name(const std::string& name) {
  for (const PhaseEnd one : {PhaseEnd::work, PhaseEnd::time}) {
    if (phase_end_name(one) == name) return one;
  }
  throw SchemaError{fmt::format("unknown phase end '{}'", name)};
}

JobKind kind_from_json(const Json& json) {
  std::string name;
  get(json, "kind", name);
  for (std::size_t i = 0; i < kJobKinds; ++i) {
    if (info_of(static_cast<JobKind>(i)).name == name) return static_cast<JobKind>(i);
  }
  throw SchemaError{fmt::format("unknown kind '{}'", name)};
}

void check_axes(const std::vector<SweepAxis>& axes) {
  const std::uint64_t points = points_of(axes);
  if (points == 0 || points > kMostPoints) {
    throw SchemaError{fmt::format("a sweep must have 1 to {} points", kMostPoints)};
  }
  if (axes.size() > kMostAxes) {
    throw SchemaError{
        fmt::format("a sweep must have at most {}", counted(kMostAxes, "axis", "axes"))};
  }
}

PlanRecord plan_from_json(const Json& json) {
  PlanRecord plan = json.get<PlanRecord>();
  for_each_in(json, "jobs", [&](const Json& one) {
    JobRecord& job = plan.jobs.emplace_back(one.get<JobRecord>());
    job.kind = kind_from_json(one);
    job.settings = parameters_from_json(one, "settings");
    check_axes(job.axes);
  });
  return plan;
}

VolumeDescription volume_from_json(const Json& json) {
  VolumeDescription volume = json.get<VolumeDescription>();
  std::string role = "near";
  get(json, "role", role);
  volume.role = parse_role(role).value_or(Role::near);
  // Schema version 1 has one drive per volume, which is empty if unknown.
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
  get(json, "runs_ended", measurement.runs_ended);
  get(json, "access", measurement.access);
  if (std::string ends; json.contains("ends")) {
    get(json, "ends", ends);
    measurement.ends = phase_end_from_name(ends);
  }
  for_each_in(json, "samples",
              [&](const Json& sample) { measurement.samples.push_back(read_sample(sample)); });
  return measurement;
}

// Schema versions 1 and 2 have one job. The plan names it, and its options are the plan's. The name
// of the workload identifies FC-Test and replays of reels.
JobRecord only_job(const Json& json, const Json& plan) {
  constexpr std::string_view kFcTest = "fc-test", kReel = "reel";
  JobRecord job;
  get(plan, "workload", job.name);
  job.kind = job.name == kFcTest ? JobKind::fc_test
             : job.name == kReel ? JobKind::trace
                                 : JobKind::workload;
  get(json, "overhead_ns_per_operation", job.overhead_ns);
  const Json values = object_or_empty(plan, "parameters");
  get(values, "scale", job.scale);
  get(values, "warm", job.warm);
  if (std::uint64_t bytes = 0; values.contains("block_size")) {
    get(values, "block_size", bytes);
    job.settings.emplace_back("block_size", format_binary_size(bytes));
  }
  if (std::string method; values.contains("copy_method")) {
    get(values, "copy_method", method);
    job.settings.emplace_back("copy_method", method);
  }
  if (std::uint32_t threads = 0; values.contains("threads")) {
    get(values, "threads", threads);
    job.settings.emplace_back("threads", std::to_string(threads));
  }
  std::vector<Json> sweeps;
  get(json, "sweeps", sweeps);
  for (const Json& sweep : sweeps) {
    job.axes = convert<std::vector<SweepAxis>>(required(sweep, "axes"), "axes");
    if (job.axes.empty()) throw SchemaError{"a sweep has no axes"};
    check_axes(job.axes);
    break;  // there is one matrix per operation and file system
  }
  return job;
}

std::string without_extension(std::string name) {
  constexpr std::string_view kExtension = ".reel";
  if (name.ends_with(kExtension)) name.resize(name.size() - kExtension.size());
  return name;
}

void read_one_job(const Json& json, Result& result) {
  const Json& plan = required(json, "plan");
  result.plan = plan.get<PlanRecord>();
  JobRecord job = only_job(json, plan);
  const bool reel = job.kind == JobKind::trace;
  for_each_in(json, "measurements", [&](const Json& one) {
    Measurement& measurement = result.measurements.emplace_back(measurement_from_json(one));
    if (reel) {  // newer versions name them after their traces
      measurement.replay = object_or_empty(one, "parameters").get<ReplayParameters>();
      measurement.workload = without_extension(measurement.set);
    } else {
      get(one, "replay", measurement.replay);
      if (measurement.replay) job.kind = JobKind::trace;
    }
    measurement.kind = job.kind;
    if (job.kind == JobKind::trace) measurement.set.clear();
    if (job.kind != JobKind::fc_test && !reel) {
      measurement.parameters = parameters_from_json(one, "parameters");
    }
    if (reel) job.name = result.plan.name = measurement.workload;
  });
  result.plan.jobs.push_back(std::move(job));
}

void read_measurements(const Json& json, Result& result) {
  for_each_in(json, "measurements", [&](const Json& one) {
    Measurement& measurement = result.measurements.emplace_back(measurement_from_json(one));
    measurement.kind = kind_from_json(one);
    measurement.parameters = parameters_from_json(one, "parameters");
    get(one, "replay", measurement.replay);
  });
}

void read_jobs(const Json& json, Result& result) {
  result.plan = inside("plan", [&] { return plan_from_json(required(json, "plan")); });
  read_measurements(json, result);
}

void read_control(const Json& json, Result& result) {
  const auto found = json.find("control");
  if (found == json.end()) return;
  Result control = result.of_same_run();
  inside("control", [&] {
    for_each_in(*found, "volumes",
                [&](const Json& one) { control.volumes.push_back(volume_from_json(one)); });
    get(*found, "warnings", control.warnings);
    read_measurements(*found, control);
  });
  result.control.push_back(std::move(control));
}

Result read_result(const Json& json, std::int64_t version) {
  Result result;
  get(required(json, "filereel"), "version", result.version);
  get(json, "started", result.started);
  get(json, "session", result.session);
  get(json, "label", result.label);
  get(json, "note", result.note);
  get(json, "serials_hidden", result.serials_hidden);
  get(json, "host", result.host);
  for_each_in(json, "volumes",
              [&](const Json& one) { result.volumes.push_back(volume_from_json(one)); });
  get(json, "complete", result.complete);
  get(json, "warnings", result.warnings);
  get(json, "escaped_names", result.escaped_names);
  get(json, "block_baselines", result.baselines);
  version < 3 ? read_one_job(json, result) : read_jobs(json, result);
  read_control(json, result);
  return result;
}

}  // namespace

Sample sample_from_json(std::string_view text) {
  constexpr std::string_view kName = "a sample of a result";
  try {
    return read_sample(parse_json(text, kName, "use the same version of filereel everywhere"));
  } catch (const Json::exception&) {
    throw_unusable(kName, kUnexpectedType);
  } catch (const SchemaError& wrong) {
    throw_unusable(kName, wrong.why);
  }
}

Result result_from_json(std::string_view text, std::string_view name) {
  const auto refuse = [&](std::string_view why) -> Error {
    return {ErrorKind::unusable_input, fmt::format("{}: {}", name, why)};
  };
  if (text.size() > kMostResultBytes) {
    throw refuse(
        fmt::format("larger than the limit of {} for results", format_size(kMostResultBytes)));
  }
  if (const std::string excess = exceeded_json_limit(text); !excess.empty()) {
    throw refuse(fmt::format("not a filereel result ({})", excess));
  }
  // Json's destructor needs memory, and terminates the process if there is none.
  constexpr std::size_t kPerByte = 24;
  const std::string what = fmt::format("the result '{}'", printable(name));
  require_memory(kPerByte * text.size(), what);
  try {
    const Json json = parse_json(text, name, "name a result written by `filereel run --json`");
    std::int64_t version = 0;
    if (json.is_object()) get(json, "schema_version", version);
    if (version < 1) throw refuse("not a filereel result: 'schema_version' is missing");
    if (version > Result::kSchemaVersion) {
      throw refuse(
          fmt::format("written by a newer filereel (schema version {}; this one reads up to "
                      "{}); update filereel",
                      version, Result::kSchemaVersion));
    }
    Result result = read_result(json, version);
    if (const std::string excess = exceeded_limit(result); !excess.empty())
      throw SchemaError{excess};
    return result;
  } catch (const std::bad_alloc&) {
    fail_for_memory(what);
  } catch (const Json::exception&) {
    throw refuse(fmt::format("not a filereel result ({})", kUnexpectedType));
  } catch (const SchemaError& wrong) {
    const std::string said = fmt::format("not a filereel result ({})", wrong.why);
    throw refuse(wrong.place.empty() ? said : fmt::format("{}: {}", printable(wrong.place), said));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unusable_input) throw;
    throw refuse(error.what());
  }
}

}  // namespace filereel
