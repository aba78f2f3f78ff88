#include "replay/results/result_json_read.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/json_events.h"
#include "replay/results/json_members.h"
#include "replay/results/result_json.h"
#include "replay/results/result_sweep.h"
#include "replay/results/work_names.h"

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

// Calls `read` for each item of a list, with its place in messages.
template <class List, class Read>
void for_each_in(List& list, const char* key, const Read& read) {
  std::size_t at = 0;
  for (auto& one : list) {
    inside(fmt::format("{}[{}]", key, at++), [&] { read(one); });
  }
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
  for (const PhaseEnd end : {PhaseEnd::work, PhaseEnd::time}) {
    if (phase_end_name(end) == name) return end;
  }
  throw SchemaError{fmt::format("unknown phase end '{}'", name)};
}

JobKind kind_from_json(const Json& json) {
  std::string name;
  get(json, "kind", name);
  for (const JobKind kind : job_kinds()) {
    if (info_of(kind).name == name) return kind;
  }
  throw SchemaError{fmt::format("unknown kind '{}'", name)};
}

void check_axes(const std::vector<SweepAxis>& axes) {
  const std::uint64_t points = points_of(axes);
  if (points == 0 || points > kMostPoints) {
    throw SchemaError{fmt::format("a sweep must have 1 to {} points", kMostPoints)};
  }
  if (axes.size() > kMostAxes) {
    throw SchemaError{fmt::format("a sweep must have at most {} axes", kMostAxes)};
  }
}

PlanRecord plan_from_json(const Json& json) {
  PlanRecord plan = json.get<PlanRecord>();
  for_each_in(required_list(json, "jobs"), "jobs", [&](const Json& item) {
    JobRecord& job = plan.jobs.emplace_back(item.get<JobRecord>());
    job.kind = kind_from_json(item);
    job.settings = parameters_from_json(item, "settings");
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

Measurement measurement_from_json(StoredMeasurement& stored) {
  const Json& json = stored.json;
  Measurement measurement;
  get(json, "workload", measurement.workload);
  get(json, "set", measurement.set);
  get(json, "operation", measurement.operation);
  get(json, "file_system", measurement.file_system);
  get(json, "driver", measurement.driver);
  get(json, "earlier_rounds", measurement.earlier_rounds);
  get(json, "runs_ended", measurement.runs_ended);
  get(json, "work", measurement.work_digest);
  get(json, "access", measurement.access);
  get(json, "without_bytes_read", measurement.without_bytes_read);
  get(json, "without_direct_io", measurement.without_direct_io);
  if (std::string ends; json.contains("ends")) {
    get(json, "ends", ends);
    measurement.ends = phase_end_from_name(ends);
  }
  required_list(json, "samples");
  measurement.samples = std::move(stored.samples.list);
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

void read_one_job(StoredPart& stored, Result& result) {
  const Json& json = stored.json;
  const Json& plan = required(json, "plan");
  result.plan = plan.get<PlanRecord>();
  JobRecord job = only_job(json, plan);
  const bool reel = job.kind == JobKind::trace;
  required_list(json, "measurements");
  for_each_in(stored.measurements.list, "measurements", [&](StoredMeasurement& in_text) {
    const Json& one = in_text.json;
    Measurement& measurement = result.measurements.emplace_back(measurement_from_json(in_text));
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

void read_measurements(StoredPart& stored, Result& result) {
  required_list(stored.json, "measurements");
  for_each_in(stored.measurements.list, "measurements", [&](StoredMeasurement& in_text) {
    const Json& one = in_text.json;
    Measurement& measurement = result.measurements.emplace_back(measurement_from_json(in_text));
    measurement.kind = kind_from_json(one);
    measurement.parameters = parameters_from_json(one, "parameters");
    get(one, "replay", measurement.replay);
  });
}

void read_jobs(StoredPart& stored, Result& result) {
  result.plan = inside("plan", [&] { return plan_from_json(required(stored.json, "plan")); });
  read_measurements(stored, result);
}

void read_control(StoredPart& stored, Result& result) {
  Result control = result.of_same_run();
  for_each_in(required_list(stored.json, "volumes"), "volumes",
              [&](const Json& one) { control.volumes.push_back(volume_from_json(one)); });
  get(stored.json, "warnings", control.warnings);
  read_measurements(stored, control);
  result.control.push_back(std::move(control));
}

// For a result from before version 8: also, file systems of other volumes followed near's there,
// as in "ext4 to ntfs".
void adopt_older(Result& result) {
  mark_older_bytes(result);
  for (Measurement& measurement : result.measurements) {
    const std::size_t others = measurement.file_system.find(" to ");
    if (others != std::string::npos) measurement.file_system.erase(others);
  }
}

Result read_result(StoredResult stored, std::int64_t version) {
  const Json& json = stored.own.json;
  Result result;
  get(required(json, "filereel"), "version", result.version);
  get(json, "started", result.started);
  get(json, "session", result.session);
  get(json, "label", result.label);
  get(json, "note", result.note);
  get(json, "serials_hidden", result.serials_hidden);
  get(json, "host", result.host);
  for_each_in(required_list(json, "volumes"), "volumes",
              [&](const Json& one) { result.volumes.push_back(volume_from_json(one)); });
  get(json, "complete", result.complete);
  get(json, "warnings", result.warnings);
  get(json, "escaped_names", result.escaped_names);
  get(json, "block_baselines", result.baselines);
  version < 3 ? read_one_job(stored.own, result) : read_jobs(stored.own, result);
  if (stored.control) inside("control", [&] { read_control(*stored.control, result); });
  if (version < kFirstWithBytesRead) {
    adopt_older(result);
    std::ranges::for_each(result.control, adopt_older);
  }
  return result;
}

// As read_json. Throws Error(unusable_input), as parse_json, for text that is not JSON.
template <class Stored>
std::optional<SchemaError> read_stored(std::string_view text, Stored& stored, const char* key,
                                       std::string_view name, std::string_view what_to_do) {
  try {
    return read_json(text, place_of(stored, key));
  } catch (const Json::exception&) {
    refuse_json(text, name, what_to_do);
  }
}

}  // namespace

Sample finished(StoredSample&& stored) {
  std::optional<StoredReel> reel = std::move(stored.stored_reel);
  std::optional<StoredDivergences> divergences = std::move(stored.stored_divergences);
  Sample sample = std::move(stored);
  if (reel) {
    if (reel->tree) sample.tree = std::move(reel->tree);
    sample.reel = *std::move(reel);
  }
  if (divergences) {
    sample.divergences = divergences->count;
    sample.examples = std::move(divergences->examples);
    if (sample.reel) sample.reel->divergences = std::move(divergences->by_class);
  }
  return sample;
}

void StoredSamples::finish() {
  if (!reading) return;
  Sample& sample = list.emplace_back(finished(*std::move(reading)));
  reading.reset();
  if (detail == ResultDetail::figures) keep_figures(sample);
}

Sample sample_from_json(std::string_view text) {
  constexpr std::string_view kName = "a sample of a result";
  try {
    if (std::string excess = exceeded_json_limit(text); !excess.empty()) {
      throw SchemaError{std::move(excess)};
    }
    StoredSample stored;
    const auto mismatch =
        read_stored(text, stored, "sample", kName, "use the same version of filereel everywhere");
    if (mismatch) throw *mismatch;
    return finished(std::move(stored));
  } catch (const SchemaError& wrong) {
    throw_unusable(kName, wrong.why);
  }
}

Result result_from_json(std::string_view text, std::string_view name, ResultDetail detail) {
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
  constexpr std::size_t kPerByte = 24, kMostOfTrees = std::size_t{1} << 30;
  const std::string what = fmt::format("the result '{}'", printable(name));
  require_memory(std::min(kPerByte * text.size(), kMostOfTrees), what);
  try {
    StoredResult stored;
    stored.own.measurements.detail = detail;
    const std::optional<SchemaError> mismatch =
        read_stored(text, stored, "result", name, "name a result written by `filereel run --json`");
    std::int64_t version = 0;
    if (stored.own.json.is_object()) get(stored.own.json, "schema_version", version);
    if (version < 1) throw refuse("not a filereel result: 'schema_version' is missing");
    if (version > Result::kSchemaVersion) {
      throw refuse(
          fmt::format("written by a newer filereel (schema version {}; this one reads up to "
                      "{}); update filereel",
                      version, Result::kSchemaVersion));
    }
    if (mismatch) throw *mismatch;
    Result result = read_result(std::move(stored), version);
    shorten_older_names(result);
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
