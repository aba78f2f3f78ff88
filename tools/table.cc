#include "tools/table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "filesets/units.h"

namespace filereel {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(std::size_t count) {
  return std::string(count, ' ');
}

// Three significant digits, as far as they mean anything.
std::string number(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string cell(const std::optional<Spread>& spread) {
  if (!spread) return "-";
  if (spread->low == spread->high) return number(spread->median);
  return fmt::format("{} ({}–{})", number(spread->median), number(spread->low),
                     number(spread->high));
}

using Bold = std::function<std::string(std::string)>;

using Rows = std::vector<std::vector<std::string>>;

// Adds one quantity of one file system to the rows: sets down, operations across.
void add_block(const std::vector<const Measurement*>& measurements, const std::string& title,
               std::optional<Spread> Summary::* quantity, Rows& rows) {
  std::vector<std::string> sets, operations;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  for (const Measurement* one : measurements) {
    const std::optional<Spread> spread = one->summary().*quantity;
    const bool no_data = std::ranges::any_of(one->samples, &Sample::moved_no_data);
    const bool rate_of_data = quantity != &Summary::files_per_s;
    if (!spread && one->operation == fc_step_name(FcStep::remove) && rate_of_data) continue;
    if (std::ranges::find(sets, one->set) == sets.end()) sets.push_back(one->set);
    if (std::ranges::find(operations, one->operation) == operations.end()) {
      operations.push_back(one->operation);
    }
    cells[{one->set, one->operation}] = no_data && rate_of_data ? "no data moved" : cell(spread);
  }
  if (cells.empty()) return;
  std::vector<std::string>& heading = rows.emplace_back(1, title);
  heading.insert(heading.end(), operations.begin(), operations.end());
  for (const std::string& set : sets) {
    std::vector<std::string>& row = rows.emplace_back(1, "  " + set);
    for (const std::string& operation : operations) row.push_back(cells[{set, operation}]);
  }
}

// All quantities of one file system in the same columns.
std::string blocks(const std::vector<const Measurement*>& measurements, const Bold& bold) {
  Rows rows;
  add_block(measurements, "MB/s until durable", &Summary::mb_per_s, rows);
  add_block(measurements, "MB/s until calls return", &Summary::mb_per_s_elapsed, rows);
  add_block(measurements, "files/s until durable", &Summary::files_per_s, rows);
  std::istringstream lines(format_columns(rows));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += (line.starts_with(' ') ? line : bold(line)) + "\n";
  }
  return text;
}

std::string volume_line(const Result& result, const std::string& file_system) {
  std::string line;
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.file_system != file_system) continue;
    if (line.empty()) {
      line = fmt::format("{} ({})", file_system,
                         volume.driver == "kernel" ? "kernel driver" : "FUSE: " + volume.driver);
    }
    line += fmt::format(", {} {}", role_name(volume.role), volume.target);
    if (!volume.device.model.empty()) {
      line += fmt::format(" on {} {}", volume.device.model, volume.device.firmware);
    }
  }
  return line.empty() ? file_system : line;
}

}  // namespace

std::string format_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space = pad(widths[i] - characters(row[i]));
      text += i == 0 ? row[i] + (row.size() > 1 ? space : "") : "  " + space + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);  // no blanks at the end of a line
    text += '\n';
  }
  return text;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string format_result(const Result& result, const Bold& bold) {
  std::vector<std::string> file_systems;
  std::map<std::string, std::vector<const Measurement*>> by_file_system;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.samples.empty()) continue;
    auto& list = by_file_system[measurement.file_system];
    if (list.empty()) file_systems.push_back(measurement.file_system);
    list.push_back(&measurement);
  }
  std::string text;
  for (const std::string& name : file_systems) {
    const auto& list = by_file_system[name];
    text += bold(volume_line(result, name)) + "\n";
    text += blocks(list, bold);
    text += "\n";
  }
  const Plan& plan = result.plan;
  text += fmt::format(
      "{} run{} each: median (lowest–highest); MB = 10^6 bytes; scale {}, blocks of "
      "{}, {} caches; copies by {}\n",
      plan.runs, plan.runs == 1 ? "" : "s", plan.scale, format_binary_size(plan.fc_test.block_size),
      plan.warm ? "warm" : "cold", copy_method_name(plan.fc_test.copy_method));
  text += fmt::format("{}, {} core{}, Linux {}; filereel {} takes {:.0f} ns per operation itself\n",
                      result.host.cpu, result.host.cores, result.host.cores == 1 ? "" : "s",
                      result.host.kernel, result.version, result.overhead_ns);
  if (!result.complete) text += "INCOMPLETE: the run ended before all was measured\n";
  for (const Warning& warning : result.warnings) {
    text += fmt::format("warning: {} [{}]; {}\n", warning.text, warning.code, warning.next_step);
  }
  return text;
}

}  // namespace filereel
