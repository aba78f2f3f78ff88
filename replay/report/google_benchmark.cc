#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/json.h"
#include "replay/report/text_reports.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr double kNsPerS = 1e9;

// "fc-test/install/create/ext4".
std::string name_of(const Measurement& measurement) {
  std::string name = measurement.workload;
  for (const std::string* part : {&measurement.set, &measurement.operation}) {
    if (!part->empty()) name += "/" + *part;
  }
  for (const auto& [axis, value] : measurement.parameters) {
    name += fmt::format("/{}:{}", axis, value);
  }
  return name + "/" + measurement.file_system;
}

// For other workloads an iteration is one operation, because their phases may be time-limited.
bool is_per_operation(const Measurement& measurement, const Sample& sample) {
  return !info_of(measurement.kind).by_set && !sample.reel && sample.operations > 0;
}

struct Times {
  std::uint64_t iterations = 1;
  double real_ns = 0, cpu_ns = 0;  // per iteration
};

Times times_of(const Measurement& measurement, const Sample& sample, double Sample::* until) {
  Times times;
  if (is_per_operation(measurement, sample)) times.iterations = sample.operations;
  const double seconds = info_of(measurement.kind).by_set ? sample.*until : sample.elapsed_s;
  const double cpu = sample.cpu_user_s + sample.cpu_system_s + sample.cpu_driver_s;
  times.real_ns = seconds * kNsPerS / static_cast<double>(times.iterations);
  times.cpu_ns = cpu * kNsPerS / static_cast<double>(times.iterations);
  return times;
}

void add_measurement(const Measurement& measurement, int family, Json& benchmarks) {
  std::vector<const Sample*> samples;
  for (const Sample& sample : measurement.samples) {
    if (!has_failed(sample)) samples.push_back(&sample);
  }
  const std::string name = name_of(measurement);
  double Sample::* const until = rate_time(measurement);
  std::vector<double> real, cpu;
  int repetition = 0;
  for (const Sample* sample : samples) {
    const Times times = times_of(measurement, *sample, until);
    const SampleRates rates = rates_of(measurement, *sample, until);
    Json& json = benchmarks.emplace_back(Json{{"name", name},
                                              {"family_index", family},
                                              {"per_family_instance_index", 0},
                                              {"run_name", name},
                                              {"run_type", "iteration"},
                                              {"repetitions", samples.size()},
                                              {"repetition_index", repetition++},
                                              {"threads", 1},
                                              {"iterations", times.iterations},
                                              {"real_time", times.real_ns},
                                              {"cpu_time", times.cpu_ns},
                                              {"time_unit", "ns"}});
    real.push_back(times.real_ns);
    cpu.push_back(times.cpu_ns);
    constexpr double kMega = 1e6;
    if (rates.mb_per_s) json["bytes_per_second"] = *rates.mb_per_s * kMega;
    if (const auto items = rates.operations_per_s ? rates.operations_per_s : rates.files_per_s) {
      json["items_per_second"] = *items;
    }
    if (sample->moved_no_data) json["label"] = "no data moved";
  }
  if (samples.size() < 2) return;
  benchmarks.push_back({{"name", name + "_median"},
                        {"family_index", family},
                        {"per_family_instance_index", 0},
                        {"run_name", name},
                        {"run_type", "aggregate"},
                        {"repetitions", samples.size()},
                        {"threads", 1},
                        {"aggregate_name", "median"},
                        {"aggregate_unit", "time"},
                        {"iterations", samples.size()},
                        {"real_time", median(real)},
                        {"cpu_time", median(cpu)},
                        {"time_unit", "ns"}});
}

}  // namespace

std::string google_benchmark_json(const Result& result) {
  Json json;
  json["context"] = {{"date", result.started},
                     {"host_name", result.host.cpu},
                     {"executable", "filereel " + result.version},
                     {"num_cpus", result.host.cores},
                     {"mhz_per_cpu", 0},
                     {"cpu_scaling_enabled",
                      !result.host.governor.empty() && result.host.governor != "performance"},
                     {"caches", Json::array()},
                     {"load_avg", Json::array()},
                     {"library_build_type", "release"},
                     {"label", result.label},
                     {"complete", result.complete}};
  json["benchmarks"] = Json::array();
  int family = 0;
  for (const Measurement& measurement : result.measurements) {
    add_measurement(measurement, family++, json["benchmarks"]);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace filereel
