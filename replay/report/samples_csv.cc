// One row for each sample: what was measured, fixed columns, then a column for each metric of
// metrics.h.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "replay/report/pool.h"
#include "replay/report/text_reports.h"
#include "replay/results/metrics.h"

namespace filereel {
namespace {

constexpr std::string_view kBefore =
    "result,label,file,started,complete,drives,targets,workload,set,operation,file_system,driver,"
    "parameters,scale,time,run,clients,elapsed_s,durable_s,bytes,files,operations";
constexpr std::string_view kAfter =
    ",cpu_user_s,cpu_system_s,cpu_driver_s,device_bytes_read,device_bytes_written,cached_before,"
    "moved_no_data,divergences,failed,not_used\n";

// Times have fixed columns.
bool has_column(const Metric& metric) {
  return metric.name != "elapsed_s" && metric.name != "durable_s";
}

std::string text_cell(const std::string& text) {
  std::string cell;
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) cell = "'";
  cell += text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + "\"";
}

// The shortest text that parses to the same number.
template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// Model and firmware, otherwise the names that the system gives the drives.
std::string drive_names_of(const Result& result) {
  std::string text = drives_text(result);
  if (!text.empty()) return text;
  std::set<std::string> names;
  for (const VolumeDescription& volume : result.volumes) {
    for (const DeviceIdentity& drive : volume.drives) names.insert(drive.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// "near /mnt/a; far /mnt/b".
std::string targets_of(const Result& result) {
  std::vector<std::string> list;
  for (const VolumeDescription& volume : result.volumes) {
    std::string text = fmt::format("{} {}", role_name(volume.role), volume.target);
    if (!contains(list, text)) list.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

// Scale and time limit of the measurement's job, two cells; the limit is empty without one.
std::string job_cells(const Result& result, const Measurement& measurement) {
  const JobRecord& job = result.job_of(measurement);
  if (job.name.empty()) return ",";
  const auto* time = find_or_null(job.settings, "time", &Parameters::value_type::first);
  return fmt::format("{},{}", job.scale, time ? text_cell(time->second) : "");
}

std::string parameters_of(const Measurement& measurement) {
  std::string text;
  for (const auto& [axis, value] : measurement.parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", axis, value);
  }
  return text;
}

// Why the sample counts in no median; "" if it does.
std::string_view reason_not_used(const Sample& sample) {
  if (sample.conditions.stops.value_or(0) > 0) return "filereel was stopped";
  if (sample.reel && sample.reel->ended_early) return "ended early";
  if (!sample.failed_calls.empty()) return "calls failed";
  if (has_failed(sample)) return "failed";
  return sample.moved_no_data ? "no data moved" : "";
}

// Processes of mpirun, or copies of a recorded trace.
std::size_t client_count(const Measurement& measurement, const Sample& sample) {
  if (sample.clients) return sample.clients->each.size();
  return measurement.replay ? measurement.replay->clients : 1;
}

}  // namespace

std::string samples_csv(std::span<const ReportedResult> results) {
  std::string csv(kBefore);
  for (const Metric& metric : metrics()) {
    if (has_column(metric)) csv += fmt::format(",{}", metric.name);
  }
  csv += kAfter;
  const std::vector<std::string> names = column_names(results);
  const std::vector<std::size_t> columns = columns_of(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i].result;
    const std::string of_result =
        fmt::format("{},{},{},{},{},{},{}", text_cell(names[columns[i]]), text_cell(result.label),
                    text_cell(results[i].file), text_cell(result.started), result.complete ? 1 : 0,
                    text_cell(drive_names_of(result)), text_cell(targets_of(result)));
    for (const Measurement& measurement : result.measurements) {
      const std::string of_measurement =
          fmt::format("{},{},{},{},{},{},{}", text_cell(measurement.workload),
                      text_cell(measurement.set), text_cell(measurement.operation),
                      text_cell(measurement.file_system), text_cell(measurement.driver),
                      text_cell(parameters_of(measurement)), job_cells(result, measurement));
      const MetricSource of(result, measurement);
      for (const Sample& sample : measurement.samples) {
        csv += fmt::format("{},{},{},{},{},{},{},{},{}", of_result, of_measurement, sample.run,
                           client_count(measurement, sample), sample.elapsed_s, sample.durable_s,
                           sample.bytes, sample.files, sample.operations);
        for (const Metric& metric : metrics()) {
          if (has_column(metric)) csv += "," + cell(figure_of(metric, of, sample));
        }
        csv += fmt::format(",{},{},{},{},{},{},", sample.cpu_user_s, sample.cpu_system_s,
                           sample.cpu_driver_s, cell(sample.device_bytes_read),
                           cell(sample.device_bytes_written), cell(sample.cached_before));
        csv += fmt::format("{},{},{},{}\n", sample.moved_no_data ? 1 : 0, sample.divergences,
                           has_failed(sample) ? 1 : 0, reason_not_used(sample));
      }
    }
  }
  return csv;
}

}  // namespace filereel
