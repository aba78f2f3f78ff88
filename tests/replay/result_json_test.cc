#include "replay/results/result_json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/json.h"
#include "replay/results/json_members.h"
#include "replay/results/result_limits.h"
#include "tests/kept_file.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

std::string golden_text(const std::string& name = "result-v1.json") {
  return kept_file("replay/golden/" + name);
}

// Where schema versions 1 and 2 say otherwise what version 3 does.
bool is_told_otherwise(const std::string& pointer) {
  constexpr std::array<std::string_view, 4> kTop = {"/schema_version", "/plan/",
                                                    "/overhead_ns_per_operation", "/sweeps/"};
  constexpr std::array<std::string_view, 5> kOfMeasurements = {"/workload", "/set", "/parameters",
                                                               "/replay", "/reel/tree"};
  return std::ranges::any_of(kTop, [&](auto one) { return pointer.starts_with(one); }) ||
         (pointer.starts_with("/measurements/") &&
          std::ranges::any_of(kOfMeasurements,
                              [&](auto one) { return pointer.find(one) != std::string::npos; }));
}

// Medians are derived again. Those of an even number of rates are now at most as large, because the
// two in the middle are joined by their harmonic mean.
bool is_derived_median(const std::string& pointer) {
  return pointer.starts_with("/sweeps/") ||
         (pointer.find("/summary/") != std::string::npos && pointer.ends_with("/median"));
}

// Whether it is a rate of work that only reads: in older results it ended later, with the durable
// time.
bool ended_later(const std::string& pointer, const Json& now) {
  const std::size_t summary = pointer.find("/summary/");
  if (summary == std::string::npos) return false;
  const bool rate = pointer.contains("/mb_per_s/") || pointer.contains("/files_per_s/");
  const Json& rates = now[Json::json_pointer(pointer.substr(0, summary + 8))];
  return rate && rates.contains("mb_per_s") && rates["mb_per_s"] == rates["mb_per_s_elapsed"];
}

// New members may come, none may go or change.
void check_still_written(const Json& golden, const Json& now) {
  const bool of_one_job = golden["schema_version"] < 3;
  const Json written = now.flatten(), wanted = golden.flatten();
  for (const auto& [pointer, value] : wanted.items()) {
    if (of_one_job && is_told_otherwise(pointer)) continue;
    if (pointer == "/schema_version" || pointer.find("/reel/series/") != std::string::npos)
      continue;
    CAPTURE(pointer);
    REQUIRE(written.contains(pointer));
    if (ended_later(pointer, now)) {
      if (!is_derived_median(pointer)) CHECK(written.at(pointer) >= value);
    } else if (is_derived_median(pointer) && value.is_number()) {
      constexpr double kRounding = 1 + 1e-12;
      CHECK(written.at(pointer).get<double>() <= value.get<double>() * kRounding);
    } else {
      CHECK(written.at(pointer) == value);
    }
  }
}

std::string refusal(const std::string& text) {
  try {
    result_from_json(text, "drive.json");
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(error.kind() == ErrorKind::unusable_input);
    CHECK(what.starts_with("drive.json: "));
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "";
}

// A result whose member at `pointer` is replaced.
std::string with(const std::string& pointer, const Json& value) {
  Json json = Json::parse(result_to_json(sample_result()));
  json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

void check_sample_result(const Result& got) {
  const Result wanted = sample_result();
  CHECK(got.version == wanted.version);
  CHECK(got.started == wanted.started);
  CHECK(got.host.cpu == wanted.host.cpu);
  CHECK(got.host.cores == 8);
  CHECK(got.host.memory == 16'000'000'000);
  CHECK(got.host.kernel == "6.1.0-test");
  CHECK(got.host.governor == "performance");
  CHECK(got.plan.name == "fc-test");
  CHECK(got.plan.file_systems == wanted.plan.file_systems);
  CHECK(got.plan.runs == 3);
  REQUIRE(got.plan.jobs.size() == 1);
  const JobRecord& job = got.plan.jobs[0];
  CHECK(job.kind == JobKind::fc_test);
  CHECK(job.name == "fc-test");
  CHECK(job.scale == 0.5);
  CHECK_FALSE(job.warm);
  CHECK(job.settings ==
        Parameters{{"block_size", "64 KiB"}, {"copy_method", "sendfile"}, {"threads", "2"}});
  CHECK(job.overhead_ns == 123.4);
  CHECK(got.complete);

  REQUIRE(got.volumes.size() == 3);
  CHECK(got.volumes[0].role == Role::near);
  CHECK(got.volumes[1].role == Role::far);
  CHECK(got.volumes[1].target == "image:far.img");
  CHECK(got.volumes[1].target_kind == "image");
  CHECK(got.volumes[2].driver == "ntfs-3g");
  CHECK(got.volumes[0].mount_options == "rw,relatime");
  CHECK(got.volumes[0].age == "fresh");
  CHECK(got.volumes[0].size == 64'000'000'000);
  CHECK(got.volumes[0].drives.at(0).model == "Fast Disk 3");
  CHECK(got.volumes[0].drives.at(0).serial == "S123");
  CHECK(got.volumes[0].drives.at(0).firmware == "1.07");
  CHECK(got.volumes[0].drives.at(0).size == 128'000'000'000);
  CHECK(got.volumes[0].drives.at(0).rotational == false);
  CHECK(got.volumes[0].drives.at(0).scheduler == "mq-deadline");
  CHECK(got.volumes[1].drives.empty());

  REQUIRE(got.warnings.size() == 2);
  CHECK(got.warnings[1].code == "not-cold");
  CHECK(got.warnings[1].next_step == "run as root");
  REQUIRE(got.escaped_names.size() == 1);
  REQUIRE(got.escaped_names[0].names.size() == 2);
  CHECK(got.escaped_names[0].set == "m\u00fcsic");
  CHECK(got.escaped_names[0].names[1].original == "c?");
  CHECK(got.escaped_names[0].names[1].escaped == "c%3F");

  REQUIRE(got.measurements.size() == 4);
  const Measurement& create = got.measurements[0];
  CHECK(create.kind == JobKind::fc_test);
  CHECK(create.workload == "fc-test");
  CHECK(create.set == "iso");
  CHECK(create.operation == "create");
  CHECK(create.file_system == "ext4");
  CHECK(create.driver == "kernel");
  REQUIRE(create.samples.size() == 3);
  const Sample& sample = create.samples[0];
  CHECK(sample.run == 1);
  CHECK(sample.elapsed_s == 1.0);
  CHECK(sample.durable_s == 2.0);
  CHECK(sample.bytes == 800'000'000);
  CHECK(sample.files == 3);
  CHECK(sample.operations == 9);
  CHECK_FALSE(sample.transactions);
  CHECK(sample.cpu_user_s == 0.125);
  CHECK(sample.cpu_system_s == 0.5);
  CHECK(sample.cpu_driver_s == 0.0625);
  CHECK(sample.device_bytes_read == 4096);
  CHECK(sample.device_bytes_written == 801'000'000);
  CHECK(sample.cold_method == "remount");
  CHECK(sample.cached_before == 0.25);
  CHECK_FALSE(create.samples[1].device_bytes_read);
  REQUIRE(sample.latency.size() == 2);
  const LatencySummary& writes = sample.latency.at("write");
  CHECK(writes.count == 12207);
  CHECK(writes.errors == 1);
  CHECK(writes.bytes == 800'000'000);
  CHECK(writes.p50_us == 10.5);
  CHECK(writes.p90_us == 20.5);
  CHECK(writes.p95_us == 25.5);
  CHECK(writes.p99_us == 40);
  CHECK(writes.p999_us == 300);
  CHECK(writes.p9999_us == 4000);
  CHECK(writes.max_us == 5000.25);
  CHECK(writes.total_us == 150'000);

  CHECK(got.measurements[1].samples[0].moved_no_data);
  CHECK_FALSE(got.measurements[1].samples[0].cached_before);
  const Sample& failed = got.measurements[3].samples[0];
  CHECK(failed.divergences == 1);
  REQUIRE(failed.examples.size() == 1);
  CHECK(failed.examples[0].position == 17);
  CHECK(failed.examples[0].thread == 1);
  CHECK(failed.examples[0].operation == "write");
  CHECK(failed.examples[0].path == "original/a:b");
  CHECK(failed.examples[0].expected == 65536);
  CHECK(failed.examples[0].result == -28);
}

TEST_CASE("a result comes back from its JSON with every member") {
  const std::string text = result_to_json(sample_result());
  CHECK(text.ends_with("}\n"));
  const Result back = result_from_json(text, "drive.json");
  check_sample_result(back);
  CHECK(result_to_json(back) == text);
}

TEST_CASE("the share of a volume comes back, and a volume without one has no member for it") {
  Result result = sample_result();
  CHECK_FALSE(result_to_json(result).contains("\"network\""));
  result.volumes[0] = network_volume();
  result.volumes[1].network.emplace().protocol = "sshfs";
  const std::string text = result_to_json(result);
  const Result back = result_from_json(text, "nas.json");
  CHECK(back.volumes[0].network == result.volumes[0].network);
  CHECK(back.volumes[1].network == result.volumes[1].network);
  CHECK_FALSE(back.volumes[2].network);
  CHECK(result_to_json(back) == text);
}

TEST_CASE("transactions are written where there are some, and read again") {
  Result result = sample_replay();
  CHECK_FALSE(result_to_json(result).contains("transactions"));
  result.measurements[0].samples[1].transactions = 20'000;
  const std::string text = result_to_json(result);
  const Json samples = Json::parse(text)["measurements"][0]["samples"];
  CHECK(samples[1]["transactions"] == 20'000);
  CHECK_FALSE(samples[0].contains("transactions"));
  const Result back = result_from_json(text, "drive.json");
  CHECK(back.measurements[0].samples[1].transactions == 20'000);
  CHECK_FALSE(back.measurements[0].samples[0].transactions);
  CHECK_FALSE(refusal(with("/measurements/0/samples/0/transactions", -1)).empty());
}

TEST_CASE("the schema of results has all kinds of jobs, and the settings of each") {
  const Json schema = Json::parse(kept_file("../docs/result.schema.json"));
  std::vector<std::string> names, with_settings;
  for (const JobKind kind : job_kinds()) names.emplace_back(info_of(kind).name);
  CHECK(schema["$defs"]["kind"]["enum"].get<std::vector<std::string>>() == names);
  for (const Json& rule : schema["$defs"]["job"]["allOf"]) {
    if (rule["if"].contains("not")) continue;
    with_settings.push_back(rule["if"]["properties"]["kind"]["const"].get<std::string>());
    CHECK(rule["then"]["properties"]["settings"].contains("propertyNames"));
  }
  CHECK(with_settings == names);
}

TEST_CASE("results of schema versions 1 and 2 still load") {
  for (const char* name : {"result-v1.json", "result-v2.json"}) {
    CAPTURE(name);
    check_sample_result(result_from_json(golden_text(name), name));
  }
}

TEST_CASE("what other programs rely on is still written as in the golden file") {
  check_still_written(Json::parse(golden_text("result-v3.json")),
                      Json::parse(result_to_json(sample_result())));
}

TEST_CASE("what programs of older schema versions wrote is read and written again in full") {
  for (const char* name :
       {"fc-test-v1.json", "workload-v1.json", "reel-v1.json", "fc-test-v2.json",
        "workload-v2.json", "reel-v2.json", "recorded-v2.json", "workload-v3.json", "reel-v3.json",
        "workload-v4.json", "reel-v4.json"}) {
    CAPTURE(name);
    const std::string text = golden_text(name);
    check_still_written(Json::parse(text),
                        Json::parse(result_to_json(result_from_json(text, name))));
  }
}

TEST_CASE("the one job of older results has a kind and what the plan said of it") {
  const auto job_of = [](const char* name) {
    const Result result = result_from_json(golden_text(name), name);
    REQUIRE(result.plan.jobs.size() == 1);
    for (const Measurement& measurement : result.measurements) {
      CHECK(measurement.kind == result.plan.jobs[0].kind);
      CHECK(measurement.workload == result.plan.jobs[0].name);
    }
    return result.plan.jobs[0];
  };
  for (const char* name : {"fc-test-v1.json", "fc-test-v2.json"}) {
    const JobRecord job = job_of(name);
    CHECK(job.kind == JobKind::fc_test);
    CHECK(job.settings.size() == 3);
    CHECK(job.overhead_ns > 0);
  }
  for (const char* name : {"workload-v1.json", "workload-v2.json"}) {
    const JobRecord job = job_of(name);
    CHECK(job.kind == JobKind::workload);
    CHECK(job.settings.empty());
    CHECK_FALSE(job.axes.empty());
  }
  for (const char* name : {"reel-v1.json", "reel-v2.json", "recorded-v2.json"}) {
    const JobRecord job = job_of(name);
    CHECK(job.kind == JobKind::trace);
    CHECK_FALSE(job.name.ends_with(".reel"));
  }
}

TEST_CASE("the summary stands beside the samples") {
  const Json json = Json::parse(result_to_json(sample_result()));
  CHECK(json["measurements"][0]["summary"]["mb_per_s"]["median"] == 320);
  CHECK(json["measurements"][0]["summary"]["mb_per_s"]["low"] == 200);
  CHECK(json["measurements"][0]["summary"]["mb_per_s"]["high"] == 400);
  CHECK_FALSE(json["measurements"][1]["summary"].contains("mb_per_s"));
  CHECK(json["measurements"][3]["summary"].empty());
}

TEST_CASE("a replay of a reel comes back as it was written") {
  const std::string text = result_to_json(sample_replay());
  const Result got = result_from_json(text, "drive.json");
  CHECK(result_to_json(got) == text);
  REQUIRE(got.measurements.size() == 1);
  REQUIRE(got.measurements[0].replay);
  CHECK(got.measurements[0].replay->order == "resource");
  CHECK(got.measurements[0].replay->depth == 8);
  const Sample& sample = got.measurements[0].samples.at(0);
  REQUIRE(sample.reel);
  CHECK(sample.reel->divergences.at("mismatch") == 2);
  CHECK(sample.reel->lateness->p99_us == 60);
  REQUIRE(sample.course);
  CHECK(unpack_course(*sample.course).intervals()[1].syncs == 1);
  CHECK(histogram_of(sample.latency.at("read")).count() == 4000);
  CHECK(sample.slowest.at(0).latency_us == 40'000);
  CHECK(sample.slowest.at(0).service_us == 39'000);
  CHECK_FALSE(sample.slowest.at(1).service_us);
  CHECK(sample.tree->examples.at(0).path == "a/c");
  CHECK(sample.examples.at(1).divergence_class == "consequence");
}

TEST_CASE("a replay has its parameters, its classes and its rate of operations in the JSON") {
  const Json json = Json::parse(result_to_json(sample_replay()));
  const Json& measurement = json["measurements"][0];
  CHECK(measurement["kind"] == "trace");
  CHECK(measurement["workload"] == "app");
  CHECK(measurement["replay"]["pace"] == "2x");
  CHECK(measurement["replay"]["clients"] == 2);
  CHECK(measurement["replay"]["recorded_s"] == 12.5);
  CHECK(measurement["summary"]["operations_per_s"]["median"] == 2500);
  const Json& sample = measurement["samples"][0];
  CHECK(sample["divergences"]["by_class"]["consequence"] == 1);
  CHECK(sample["divergences"]["examples"][0]["class"] == "mismatch");
  CHECK(sample["reel"]["lateness"]["max_us"] == 900);
  CHECK(sample["course"]["interval_s"] == 0.01);
  CHECK(sample["slowest"][0]["offset"] == 8192);
  CHECK(sample["tree"]["differences"] == 1);
}

TEST_CASE("a sweep comes back as it was written") {
  const std::string text = result_to_json(sample_sweep());
  const Result got = result_from_json(text, "drive.json");
  CHECK(result_to_json(got) == text);
  REQUIRE(got.plan.jobs.size() == 1);
  REQUIRE(got.plan.jobs[0].axes.size() == 2);
  CHECK(got.plan.jobs[0].axes[1].name == "depth");
  CHECK(got.plan.jobs[0].axes[1].values.size() == 3);
  CHECK(got.measurements.at(4).parameters ==
        std::vector<std::pair<std::string, std::string>>{{"size", "1 MiB"}, {"depth", "4"}});
}

TEST_CASE("the matrices of a sweep are nested by its axes, with null where nothing was measured") {
  const Json json = Json::parse(result_to_json(sample_sweep()));
  CHECK(json["measurements"][3]["parameters"]["size"] == "1 MiB");
  REQUIRE(json["sweeps"].size() == 1);
  const Json& sweep = json["sweeps"][0];
  CHECK(sweep["workload"] == "reads.yaml");
  CHECK(sweep["operation"] == "read");
  CHECK(sweep["file_system"] == "ext4");
  CHECK(sweep["axes"][0]["values"][1] == "1 MiB");
  CHECK(sweep["operations_per_s"] == Json::parse("[[500.0,1000.0,1500.0],[2000.0,2500.0,null]]"));
  CHECK(sweep["read_p50_us"] == Json::parse("[[12.5,25.0,37.5],[50.0,62.5,null]]"));
  CHECK(sweep["mb_per_s"][1][2].is_null());
  CHECK_FALSE(sweep.contains("files_per_s"));
}

TEST_CASE("a workload that is a recorded trace keeps how it was replayed beside its parameters") {
  Result result = sample_replay();
  result.measurements[0].parameters = {{"order", "7"}};
  const std::string text = result_to_json(result);
  const Json json = Json::parse(text);
  CHECK(json["measurements"][0]["parameters"]["order"] == "7");
  CHECK(json["measurements"][0]["replay"]["order"] == "resource");
  const Result got = result_from_json(text, "drive.json");
  CHECK(got.measurements.at(0).replay->pace == "2x");
  CHECK(result_to_json(got) == text);
}

TEST_CASE("failed calls are written if there are any, and read") {
  Result result = sample_replay();
  result.measurements[0].samples[1].failed_calls = {{"near", "write", "EINVAL", 40}};
  const std::string text = result_to_json(result);
  const Json samples = Json::parse(text)["measurements"][0]["samples"];
  CHECK_FALSE(samples[0].contains("failed_calls"));
  CHECK(samples[1]["failed_calls"][0]["error"] == "EINVAL");
  const Result got = result_from_json(text, "drive.json");
  CHECK(got.measurements.at(0).samples.at(1).failed_calls.at(0).count == 40);
  CHECK(result_to_json(got) == text);
}

TEST_CASE("sweeps of no points, or of far too many, are refused") {
  const auto refused = [](const Json& axes) {
    Json json = Json::parse(result_to_json(sample_sweep()));
    json["plan"]["jobs"][0]["sweep"] = axes;
    return refusal(json.dump());
  };
  const Json many = {{"name", "a"}, {"values", std::vector<std::string>(101, "1")}};
  CHECK_FALSE(refused({{{"name", "a"}, {"values", Json::array()}}}).empty());
  CHECK_FALSE(refused(Json::array({many, many})).empty());
  CHECK(refused(Json::array({many})).empty());
  CHECK_FALSE(refused(5).empty());
  CHECK_FALSE(refused({{{"name", "a"}, {"values", {1}}}}).empty());
}

TEST_CASE("sweeps of too many axes, or of too many operations at their points, are refused") {
  Json json = Json::parse(result_to_json(sample_sweep()));
  json["plan"]["jobs"][0]["sweep"] = std::vector<SweepAxis>(33, {"a", {"1"}});
  CHECK(refusal(json.dump()).find("axes") != std::string::npos);

  Result result = sample_sweep();
  std::vector<std::string> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(std::to_string(i));
  result.plan.jobs[0].axes = {{"a", values}};
  json = Json::parse(result_to_json(result));
  const Json first = json["measurements"][0];
  for (int i = 0; i < 500; ++i) {
    json["measurements"].push_back(first);
    json["measurements"].back()["operation"] = std::to_string(i);
  }
  CHECK(refusal(json.dump()).find("points of sweeps") != std::string::npos);
}

TEST_CASE("an empty result is a result") {
  const std::string text = result_to_json({});
  CHECK(result_to_json(result_from_json(text, "drive.json")) == text);
}

TEST_CASE("a result of a newer filereel is refused with the advice to update") {
  const std::string text = refusal(with("/schema_version", Result::kSchemaVersion + 1));
  CHECK(text.find("newer") != std::string::npos);
  CHECK(text.find("update") != std::string::npos);
  CHECK_FALSE(
      refusal(with("/schema_version", 4'294'967'297)).empty());  // 1, were it cut to 32 bits
}

TEST_CASE("unknown members are ignored") {
  check_sample_result(result_from_json(with("/new_member", Json::array({1, 2})), "drive.json"));
}

TEST_CASE("invalid JSON is refused with the byte of the error") {
  CHECK(refusal("hello").find("invalid JSON at byte 1") != std::string::npos);
  CHECK_FALSE(refusal("").empty());
  const std::string whole = result_to_json(sample_result());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 97) {
    CHECK_FALSE(refusal(whole.substr(0, length)).empty());
  }
  CHECK_FALSE(refusal(std::string(100'000, '[')).empty());
  CHECK_FALSE(refusal("{\"schema_version\": 1, \"x\": \"\xff\"}").empty());
}

TEST_CASE("a number that no double can hold is refused with its place") {
  for (const char* number : {"1e400", "-1e400", "123456789e999"}) {
    const std::string text = refusal(fmt::format("{{\"schema_version\": 5, \"x\": {}}}", number));
    CAPTURE(text);
    CHECK(text.starts_with(
        fmt::format("drive.json: the number {} at byte 28 is out of range: ", number)));
  }
}

TEST_CASE("JSON other than results is refused") {
  for (const char* text : {"{}", "[]", "1", "null", "\"x\"", "{\"schema_version\": 0}",
                           "{\"schema_version\": -1}", "{\"schema_version\": 1}"}) {
    CAPTURE(text);
    CHECK(refusal(text).find("not a filereel result") != std::string::npos);
  }
}

TEST_CASE("members of the wrong type are refused") {
  for (const char* pointer :
       {"/schema_version", "/filereel/version", "/measurements/0/samples/0/elapsed_s",
        "/measurements/0/samples/0/bytes", "/measurements/0/samples/0/latency/write/count",
        "/plan/runs", "/plan/name", "/complete", "/host/cores"}) {
    CAPTURE(pointer);
    CHECK_FALSE(refusal(with(pointer, Json::object())).empty());
  }
  for (const char* pointer : {"/measurements", "/volumes", "/warnings", "/plan/file_systems",
                              "/measurements/0/samples", "/measurements/0/samples/0"}) {
    CAPTURE(pointer);
    CHECK_FALSE(refusal(with(pointer, Json::array({1}))).empty());
  }
  for (const char* pointer :
       {"/host", "/filereel", "/plan", "/measurements/0", "/volumes/0", "/volumes/0/device",
        "/measurements/0/samples/0/divergences", "/measurements/0/samples/0/latency/write"}) {
    CAPTURE(pointer);
    CHECK_FALSE(refusal(with(pointer, 5)).empty());
  }
}

TEST_CASE("missing members and wrong types are reported by name") {
  Json json = Json::parse(result_to_json(sample_result()));
  const auto refused = [](const Json& one, const char* why) {
    CHECK_THROWS_WITH_AS(result_from_json(one.dump(), "r"), doctest::Contains(why), Error);
  };
  Json without = json;
  without.erase("measurements");
  refused(without, "('measurements' is missing)");
  without["measurements"] = nullptr;
  refused(without, "('measurements' must be a list)");
  json["plan"]["jobs"][0]["scale"] = nullptr;
  refused(json, "r: plan.jobs[0]: not a filereel result ('scale' has the wrong type: null)");
}

TEST_CASE("an unknown kind of job is refused") {
  CHECK(refusal(with("/plan/jobs/0/kind", "dance")).find("dance") != std::string::npos);
  CHECK(refusal(with("/measurements/0/kind", "dance")).find("dance") != std::string::npos);
}

TEST_CASE("numbers out of range are refused") {
  CHECK_FALSE(refusal(with("/plan/runs", -1)).empty());
  CHECK_FALSE(refusal(with("/plan/runs", 4'294'967'299)).empty());
  CHECK_FALSE(refusal(with("/measurements/0/samples/0/bytes", -5)).empty());
  CHECK_FALSE(refusal(with("/measurements/0/samples/0/bytes", 1e300)).empty());
  CHECK_FALSE(refusal(with("/measurements/0/samples/0/files", 1.5)).empty());
}

TEST_CASE("a wrong value is named with its place, also within lists and maps") {
  CHECK(refusal(with("/measurements/0/samples/0/bytes", -5)) ==
        "drive.json: measurements[0].samples[0]: not a filereel result ('bytes' must be an integer "
        "from 0 to 18446744073709551615, not -5)");
  CHECK(refusal(with("/measurements/0/samples/0/latency/write/p50_us", 1e300))
            .starts_with("drive.json: measurements[0].samples[0].latency.write: "));
  CHECK(refusal(with("/plan/file_systems", Json::array({"ext4", 7}))) ==
        "drive.json: plan.file_systems[1]: not a filereel result ('file_systems' has the wrong "
        "type: number)");
  CHECK(refusal(with("/warnings", Json::array({Json{{"code", 1}}})))
            .starts_with("drive.json: warnings[0]: "));
}

TEST_CASE("impossible times are refused with their member") {
  const std::string sample = "/measurements/0/samples/0/";
  for (const char* member : {"elapsed_s", "durable_s"}) {
    CAPTURE(member);
    for (const double time : {-1.0, -1e-9, 1e300, 1e-320, 5e-324, 1e13, 9e-13}) {
      CAPTURE(time);
      CHECK(refusal(with(sample + member, time)).find(member) != std::string::npos);
    }
    CHECK_FALSE(refusal(with(sample + member, nullptr)).empty());  // not a number, infinite
    for (const double time : {0.0, -0.0, 1e-12, 1e-9, 1.0, 1e9, 1e12}) {
      CAPTURE(time);
      CHECK(refusal(with(sample + member, time)).empty());
    }
  }
  for (const char* member : {"started_s", "cpu_user_s", "latency/write/p50_us"}) {
    CAPTURE(member);
    for (const double figure : {-1.0, 1e300, 1e-320}) {
      const std::string text = refusal(with(sample + member, figure));
      CHECK(text.find("'" + std::string(member).substr(std::string(member).rfind('/') + 1) + "'") !=
            std::string::npos);
    }
  }
  CHECK_FALSE(refusal("{\"schema_version\": 2, \"overhead_ns_per_operation\": 1e400}").empty());
}

TEST_CASE("too deep nesting is refused anywhere") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const char* pointer : {"/new_member", "/measurements/0/parameters", "/plan/jobs"}) {
    CAPTURE(pointer);
    std::string text = with(pointer, "DEEP");
    text.replace(text.find("\"DEEP\""), 6, deep);
    CHECK(refusal(text).find("nested more than") != std::string::npos);
  }
  CHECK(refusal(with("/note", "\"" + std::string(1000, '[') + "\\")).empty());  // only text
}

TEST_CASE("results above the limits of a run are refused") {
  const auto text = [](const auto& change) {
    Result result = sample_result();
    change(result);
    return refusal(result_to_json(result));
  };
  const auto says = [](const std::string& line, std::string_view words) {
    CAPTURE(line);
    CHECK(line.find(words) != std::string::npos);
  };
  says(text([](Result& one) { one.volumes.resize(1'001); }), "more than 1000 volumes");
  says(text([](Result& one) { one.volumes[0].drives.resize(1'001); }), "drives");
  says(text([](Result& one) { one.volumes[0].network.emplace().source = std::string(4'097, 'x'); }),
       "4097 bytes");
  says(text([](Result& one) { one.baselines.resize(10'001); }), "baselines");
  says(text([](Result& one) { one.measurements[0].samples.resize(10'001); }), "samples");
  says(text([](Result& one) { one.measurements[0].set = std::string(4'097, 'x'); }), "4097 bytes");
  says(text([](Result& one) {
         for (int i = 0; i < 1'001; ++i) one.measurements[0].samples[0].latency[std::to_string(i)];
       }),
       "kinds");
  says(text([](Result& one) {
         const Measurement empty = measurement_of("", "", "ext4", "kernel");
         for (int i = 0; i < 1'001; ++i) {
           one.measurements.push_back(empty);
           one.measurements.back().set = std::to_string(i);
         }
       }),
       "sets");
  CHECK(text([](Result& one) { one.measurements[0].samples.resize(10'000); }).empty());
}

TEST_CASE("JSON with too many values is refused before it is parsed") {
  std::string text = "{\"a\":[";
  text.append(2 * kMostResultValues, ',');
  CHECK(refusal(text).find("values") != std::string::npos);
}

TEST_CASE("names that are not UTF-8 are still written") {
  Result result = sample_result();
  result.escaped_names[0].names[0] = {"caf\xe9", "caf%E9"};
  result.measurements[3].samples[0].examples[0].path = "original/\xff";
  const Result back = result_from_json(result_to_json(result), "drive.json");
  CHECK(back.escaped_names[0].names[0].escaped == "caf%E9");
  CHECK(back.escaped_names[0].names[0].original.starts_with("caf"));
}

}  // namespace
}  // namespace filereel
