#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "replay/report/text_reports.h"

namespace filereel {
namespace {

constexpr std::string_view kHeading =
    "result,label,file,started,complete,drives,workload,set,operation,file_system,driver,"
    "parameters,run,elapsed_s,durable_s,bytes,files,operations,mb_per_s,mb_per_s_elapsed,"
    "files_per_s,operations_per_s,cpu_user_s,cpu_system_s,cpu_driver_s,device_bytes_read,"
    "device_bytes_written,cached_before,moved_no_data,divergences,failed\n";

std::string text_cell(const std::string& text) {
  std::string cell;
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) cell = "'";
  cell += text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + "\"";
}

// The shortest text that reads back as the same number.
template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string parameters_of(const Measurement& measurement) {
  std::string text;
  for (const auto& [axis, value] : measurement.parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", axis, value);
  }
  return text;
}

}  // namespace

std::string samples_csv(std::span<const ReportedResult> results) {
  std::string csv(kHeading);
  const std::vector<std::string> names = result_names(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i].result;
    const std::string of_result =
        fmt::format("{},{},{},{},{},{}", text_cell(names[i]), text_cell(result.label),
                    text_cell(results[i].file), text_cell(result.started), result.complete ? 1 : 0,
                    text_cell(drives_text(result)));
    for (const Measurement& one : result.measurements) {
      const std::string of_measurement =
          fmt::format("{},{},{},{},{},{}", text_cell(one.workload), text_cell(one.set),
                      text_cell(one.operation), text_cell(one.file_system), text_cell(one.driver),
                      text_cell(parameters_of(one)));
      for (const Sample& sample : one.samples) {
        const SampleRates rates = rates_of(one, sample);
        csv += fmt::format("{},{},{},{},{},{},{},{},", of_result, of_measurement, sample.run,
                           sample.elapsed_s, sample.durable_s, sample.bytes, sample.files,
                           sample.operations);
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},", cell(rates.mb_per_s),
                           cell(rates.mb_per_s_elapsed), cell(rates.files_per_s),
                           cell(rates.operations_per_s), sample.cpu_user_s, sample.cpu_system_s,
                           sample.cpu_driver_s, cell(sample.device_bytes_read),
                           cell(sample.device_bytes_written), cell(sample.cached_before));
        csv += fmt::format("{},{},{}\n", sample.moved_no_data ? 1 : 0, sample.divergences,
                           has_failed(sample) ? 1 : 0);
      }
    }
  }
  return csv;
}

}  // namespace filereel
