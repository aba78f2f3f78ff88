#include "replay/runner/result_json.h"

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "filesets/error.h"

namespace filereel {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

// Thrown inside this file for JSON that is not of the schema.
struct WrongMember {
  std::string why;
};

// As nlohmann's get, but a number that does not fit is refused and not cut.
template <class T>
T convert(const Json& json, const char* key) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      throw WrongMember{fmt::format("'{}' must be a whole number from {} to {}", key,
                                    std::numeric_limits<T>::min(), std::numeric_limits<T>::max())};
    }
  }
  return json.get<T>();
}

// Leave `value` as it is where there is no such member.
template <class T>
void get(const Json& json, const char* key, T& value) {
  if (!json.is_object()) {
    throw WrongMember{fmt::format("there is no object that could hold '{}'", key)};
  }
  if (const auto found = json.find(key); found != json.end()) value = convert<T>(*found, key);
}
template <class T>
void get(const Json& json, const char* key, std::optional<T>& value) {
  T present{};
  get(json, key, present);
  if (json.contains(key)) value = present;
}

// The latency members, in one place for both directions.
constexpr std::array<std::pair<const char*, double LatencySummary::*>, 8> kLatencyMembers = {{
    {"p50_us", &LatencySummary::p50_us},
    {"p90_us", &LatencySummary::p90_us},
    {"p95_us", &LatencySummary::p95_us},
    {"p99_us", &LatencySummary::p99_us},
    {"p99_9_us", &LatencySummary::p999_us},
    {"p99_99_us", &LatencySummary::p9999_us},
    {"max_us", &LatencySummary::max_us},
    {"total_us", &LatencySummary::total_us},
}};

Json to_json(const LatencySummary& latency) {
  Json json = {{"count", latency.count}, {"errors", latency.errors}, {"bytes", latency.bytes}};
  for (const auto& [key, member] : kLatencyMembers) json[key] = latency.*member;
  return json;
}

void from_json(const Json& json, LatencySummary& latency) {
  get(json, "count", latency.count);
  get(json, "errors", latency.errors);
  get(json, "bytes", latency.bytes);
  for (const auto& [key, member] : kLatencyMembers) get(json, key, latency.*member);
}

Json to_json(const TreeComparison& tree) {
  Json examples = Json::array();
  for (const TreeDifference& one : tree.examples) {
    examples.push_back({{"path", one.path}, {"text", one.text}});
  }
  return {{"entries", tree.entries},
          {"differences", tree.differences},
          {"left_out", tree.left_out},
          {"examples", std::move(examples)}};
}

TreeComparison tree_from_json(const Json& json) {
  TreeComparison tree;
  get(json, "entries", tree.entries);
  get(json, "differences", tree.differences);
  get(json, "left_out", tree.left_out);
  for (const Json& one : json.value("examples", Json::array())) {
    TreeDifference& difference = tree.examples.emplace_back();
    get(one, "path", difference.path);
    get(one, "text", difference.text);
  }
  return tree;
}

// Adds what only replays of recorded traces have.
void add_reel(Json& json, const ReelSample& reel) {
  Json classes = Json::object();
  for (const auto& [name, count] : reel.divergences) classes[name] = count;
  json["divergences"]["by_class"] = std::move(classes);
  Json series = Json::array();
  for (const SeriesPoint& one : reel.series) {
    series.push_back({{"t_s", one.t_s},
                      {"operations", one.operations},
                      {"bytes", one.bytes},
                      {"mean_us", one.mean_us},
                      {"max_us", one.max_us}});
  }
  Json members = {{"bytes_read", reel.bytes_read},     {"bytes_written", reel.bytes_written},
                  {"bytes_copied", reel.bytes_copied}, {"unverified", reel.unverified},
                  {"refused", reel.refused},           {"waits", reel.waits},
                  {"ended_early", reel.ended_early}};
  if (reel.lateness) members["lateness"] = to_json(*reel.lateness);
  if (reel.tree) members["tree"] = to_json(*reel.tree);
  members["series"] = std::move(series);
  json["reel"] = std::move(members);
}

ReelSample reel_from_json(const Json& json, const Json& classes) {
  ReelSample reel;
  for (const auto& [name, count] : classes.items()) {
    reel.divergences[name] = convert<std::uint64_t>(count, "by_class");
  }
  get(json, "bytes_read", reel.bytes_read);
  get(json, "bytes_written", reel.bytes_written);
  get(json, "bytes_copied", reel.bytes_copied);
  get(json, "unverified", reel.unverified);
  get(json, "refused", reel.refused);
  get(json, "waits", reel.waits);
  get(json, "ended_early", reel.ended_early);
  if (const auto found = json.find("lateness"); found != json.end()) {
    from_json(*found, reel.lateness.emplace());
  }
  if (const auto found = json.find("tree"); found != json.end()) {
    reel.tree = tree_from_json(*found);
  }
  for (const Json& one : json.value("series", Json::array())) {
    SeriesPoint& point = reel.series.emplace_back();
    get(one, "t_s", point.t_s);
    get(one, "operations", point.operations);
    get(one, "bytes", point.bytes);
    get(one, "mean_us", point.mean_us);
    get(one, "max_us", point.max_us);
  }
  return reel;
}

Json to_json(const Sample& sample) {
  Json json = {{"run", sample.run},
               {"elapsed_s", sample.elapsed_s},
               {"durable_s", sample.durable_s},
               {"bytes", sample.bytes},
               {"files", sample.files},
               {"operations", sample.operations},
               {"cpu_user_s", sample.cpu_user_s},
               {"cpu_system_s", sample.cpu_system_s},
               {"cpu_driver_s", sample.cpu_driver_s}};
  put(json, "device_bytes_read", sample.device_bytes_read);
  put(json, "device_bytes_written", sample.device_bytes_written);
  json["cold_method"] = sample.cold_method;
  put(json, "cached_before", sample.cached_before);
  json["moved_no_data"] = sample.moved_no_data;
  Json examples = Json::array();
  for (const DivergenceExample& example : sample.examples) {
    examples.push_back({{"position", example.position},
                        {"thread", example.thread},
                        {"operation", example.operation},
                        {"path", example.path},
                        {"expected", example.expected},
                        {"result", example.result}});
    if (!example.kind_of.empty()) examples.back()["class"] = example.kind_of;
  }
  json["divergences"] = {{"count", sample.divergences}, {"examples", std::move(examples)}};
  Json latencies = Json::object();
  for (const auto& [kind, latency] : sample.latency) latencies[kind] = to_json(latency);
  json["latency"] = std::move(latencies);
  if (sample.reel) add_reel(json, *sample.reel);
  return json;
}

Sample sample_from_json(const Json& json) {
  Sample sample;
  get(json, "run", sample.run);
  get(json, "elapsed_s", sample.elapsed_s);
  get(json, "durable_s", sample.durable_s);
  get(json, "bytes", sample.bytes);
  get(json, "files", sample.files);
  get(json, "operations", sample.operations);
  get(json, "cpu_user_s", sample.cpu_user_s);
  get(json, "cpu_system_s", sample.cpu_system_s);
  get(json, "cpu_driver_s", sample.cpu_driver_s);
  get(json, "device_bytes_read", sample.device_bytes_read);
  get(json, "device_bytes_written", sample.device_bytes_written);
  get(json, "cold_method", sample.cold_method);
  get(json, "cached_before", sample.cached_before);
  get(json, "moved_no_data", sample.moved_no_data);
  if (const auto found = json.find("divergences"); found != json.end()) {
    get(*found, "count", sample.divergences);
    for (const Json& one : found->value("examples", Json::array())) {
      DivergenceExample& example = sample.examples.emplace_back();
      get(one, "position", example.position);
      get(one, "thread", example.thread);
      get(one, "operation", example.operation);
      get(one, "path", example.path);
      get(one, "expected", example.expected);
      get(one, "result", example.result);
      get(one, "class", example.kind_of);
    }
  }
  const Json latencies = json.value("latency", Json::object());  // outlives its items()
  for (const auto& [kind, one] : latencies.items()) {
    from_json(one, sample.latency[kind]);
  }
  if (const auto found = json.find("reel"); found != json.end()) {
    const Json divergences = json.value("divergences", Json::object());
    sample.reel = reel_from_json(*found, divergences.value("by_class", Json::object()));
  }
  return sample;
}

Json to_json(const Summary& summary) {
  Json json = Json::object();
  const auto add = [&](const char* key, const std::optional<Spread>& spread) {
    if (!spread) return;
    json[key] = {{"median", spread->median}, {"low", spread->low}, {"high", spread->high}};
  };
  add("mb_per_s", summary.mb_per_s);
  add("mb_per_s_elapsed", summary.mb_per_s_elapsed);
  add("files_per_s", summary.files_per_s);
  add("operations_per_s", summary.operations_per_s);
  return json;
}

Json parameters(const Plan& plan) {
  return {{"block_size", plan.fc_test.block_size},
          {"copy_method", copy_method_name(plan.fc_test.copy_method)},
          {"threads", plan.fc_test.threads},
          {"scale", plan.scale},
          {"warm", plan.warm}};
}

Json parameters(const ReelParameters& reel) {
  return {{"order", reel.order}, {"pace", reel.pace},     {"engine", reel.engine},
          {"depth", reel.depth}, {"verify", reel.verify}, {"clients", reel.clients},
          {"warm", reel.warm}};
}

ReelParameters reel_parameters_from_json(const Json& json) {
  ReelParameters reel;
  get(json, "order", reel.order);
  get(json, "pace", reel.pace);
  get(json, "engine", reel.engine);
  get(json, "depth", reel.depth);
  get(json, "verify", reel.verify);
  get(json, "clients", reel.clients);
  get(json, "warm", reel.warm);
  return reel;
}

Json to_json(const Plan& plan) {
  Json file_systems = Json::array(), operations = Json::array();
  for (const FileSystemKind kind : plan.file_systems) {
    file_systems.push_back(file_system_info(kind).name);
  }
  for (const FcStep step : plan.operations) operations.push_back(fc_step_name(step));
  return {{"name", plan.name},
          {"workload", plan.workload},
          {"file_systems", std::move(file_systems)},
          {"sets", plan.sets},
          {"operations", std::move(operations)},
          {"runs", plan.runs},
          {"parameters", parameters(plan)}};
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

Json to_json(const VolumeDescription& volume) {
  Json device = {{"name", volume.device.name},
                 {"model", volume.device.model},
                 {"serial", volume.device.serial},
                 {"firmware", volume.device.firmware},
                 {"size", volume.device.size}};
  put(device, "rotational", volume.device.rotational);
  device["scheduler"] = volume.device.scheduler;
  return {{"role", role_name(volume.role)},
          {"target", volume.target},
          {"target_kind", volume.target_kind},
          {"file_system", volume.file_system},
          {"driver", volume.driver},
          {"mount_options", volume.mount_options},
          {"age", volume.age},
          {"size", volume.size},
          {"device", std::move(device)}};
}

VolumeDescription volume_from_json(const Json& json) {
  VolumeDescription volume;
  volume.role = json.value("role", "near") == "far" ? Role::far : Role::near;
  get(json, "target", volume.target);
  get(json, "target_kind", volume.target_kind);
  get(json, "file_system", volume.file_system);
  get(json, "driver", volume.driver);
  get(json, "mount_options", volume.mount_options);
  get(json, "age", volume.age);
  get(json, "size", volume.size);
  const Json device = json.value("device", Json::object());
  get(device, "name", volume.device.name);
  get(device, "model", volume.device.model);
  get(device, "serial", volume.device.serial);
  get(device, "firmware", volume.device.firmware);
  get(device, "size", volume.device.size);
  get(device, "rotational", volume.device.rotational);
  get(device, "scheduler", volume.device.scheduler);
  return volume;
}

Result read_result(const Json& json) {
  Result result;
  get(json.at("filereel"), "version", result.version);
  get(json, "started", result.started);
  const Json host = json.value("host", Json::object());
  get(host, "cpu", result.host.cpu);
  get(host, "cores", result.host.cores);
  get(host, "memory", result.host.memory);
  get(host, "kernel", result.host.kernel);
  get(host, "governor", result.host.governor);
  for (const Json& one : json.at("volumes")) result.volumes.push_back(volume_from_json(one));
  result.plan = plan_from_json(json.at("plan"));
  get(json, "overhead_ns_per_operation", result.overhead_ns);
  get(json, "complete", result.complete);
  for (const Json& one : json.value("warnings", Json::array())) {
    Warning& warning = result.warnings.emplace_back();
    get(one, "code", warning.code);
    get(one, "text", warning.text);
    get(one, "next_step", warning.next_step);
  }
  for (const Json& one : json.value("escaped_names", Json::array())) {
    EscapedNames& names = result.escaped_names.emplace_back();
    get(one, "file_system", names.file_system);
    get(one, "set", names.set);
    for (const Json& pair : one.value("names", Json::array())) {
      EscapedPath& path = names.names.emplace_back();
      get(pair, "original", path.original);
      get(pair, "escaped", path.escaped);
    }
  }
  for (const Json& one : json.at("measurements")) {
    Measurement& measurement = result.measurements.emplace_back();
    get(one, "workload", measurement.workload);
    get(one, "set", measurement.set);
    get(one, "operation", measurement.operation);
    get(one, "file_system", measurement.file_system);
    get(one, "driver", measurement.driver);
    if (measurement.workload == kReelWorkload) {
      measurement.reel = reel_parameters_from_json(one.value("parameters", Json::object()));
    }
    for (const Json& sample : one.at("samples")) {
      measurement.samples.push_back(sample_from_json(sample));
    }
  }
  return result;
}

}  // namespace

std::string result_to_json(const Result& result) {
  Json json;
  json["schema_version"] = Result::kSchemaVersion;
  json["filereel"] = {{"version", result.version}};
  json["started"] = result.started;
  json["host"] = {{"cpu", result.host.cpu},
                  {"cores", result.host.cores},
                  {"memory", result.host.memory},
                  {"kernel", result.host.kernel},
                  {"governor", result.host.governor}};
  json["volumes"] = Json::array();
  for (const VolumeDescription& volume : result.volumes) json["volumes"].push_back(to_json(volume));
  json["plan"] = to_json(result.plan);
  json["overhead_ns_per_operation"] = result.overhead_ns;
  json["complete"] = result.complete;
  json["warnings"] = Json::array();
  for (const Warning& warning : result.warnings) {
    json["warnings"].push_back(
        {{"code", warning.code}, {"text", warning.text}, {"next_step", warning.next_step}});
  }
  if (!result.escaped_names.empty()) json["escaped_names"] = Json::array();
  for (const EscapedNames& names : result.escaped_names) {
    Json list = Json::array();
    for (const EscapedPath& path : names.names) {
      list.push_back({{"original", path.original}, {"escaped", path.escaped}});
    }
    json["escaped_names"].push_back(
        {{"file_system", names.file_system}, {"set", names.set}, {"names", std::move(list)}});
  }
  json["measurements"] = Json::array();
  for (const Measurement& measurement : result.measurements) {
    Json samples = Json::array();
    for (const Sample& sample : measurement.samples) samples.push_back(to_json(sample));
    json["measurements"].push_back(
        {{"workload", measurement.workload},
         {"set", measurement.set},
         {"operation", measurement.operation},
         {"file_system", measurement.file_system},
         {"driver", measurement.driver},
         {"parameters", measurement.reel ? parameters(*measurement.reel) : parameters(result.plan)},
         {"samples", std::move(samples)},
         {"summary", to_json(measurement.summary())}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result result_from_json(std::string_view text, std::string_view name) {
  const auto refuse = [&](std::string_view why) -> Error {
    return {ErrorKind::unusable_input, fmt::format("{}: {}", name, why)};
  };
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
    return read_result(json);
  } catch (const nlohmann::json::parse_error& error) {
    throw refuse(fmt::format(
        "is not JSON at byte {}: name a result that `filereel run --json` wrote", error.byte));
  } catch (const nlohmann::json::exception& error) {
    throw refuse(fmt::format("is not a filereel result ({})", error.what()));
  } catch (const WrongMember& wrong) {
    throw refuse(fmt::format("is not a filereel result ({})", wrong.why));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unusable_input) throw;
    throw refuse(error.what());
  }
}

}  // namespace filereel
