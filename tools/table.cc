#include "tools/table.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/figures.h"
#include "replay/report/wording.h"
#include "tools/efficiency_table.h"

namespace filereel {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(std::size_t count) {
  return std::string(count, ' ');
}

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
    const std::string figure = spread ? spread_text(spread) : "-";
    cells[{one->set, one->operation}] = no_data && rate_of_data ? "no data moved" : figure;
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

}  // namespace

std::string describe_drives(const VolumeDescription& volume) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const DeviceIdentity& drive : volume.drives) {
    if (drive.model.empty()) continue;
    std::string kind = printable(drive.model);
    if (!drive.firmware.empty()) kind += " " + printable(drive.firmware);
    const auto same = std::ranges::find(kinds, kind, &std::pair<std::string, std::size_t>::first);
    if (same == kinds.end()) {
      kinds.emplace_back(std::move(kind), 1);
    } else {
      ++same->second;
    }
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " + ",
                        count > 1 ? fmt::format("{} × ", count) : "", kind);
  }
  if (text.empty()) return text;
  // Partitions and files are in the target's name.
  std::string through;
  for (const std::string& layer : volume.layers) {
    if (layer.ends_with("(partition)") || layer.starts_with("file on ")) continue;
    through += (through.empty() ? " through " : ", ") + printable(layer);
  }
  return text + through;
}

std::string describe_volumes(const Result& result, const std::string& file_system) {
  std::string line;
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.file_system != file_system) continue;
    if (line.empty()) {
      line = fmt::format("{} ({})", file_system,
                         volume.driver == "kernel" ? "kernel driver" : "FUSE: " + volume.driver);
    }
    line += fmt::format(", {} {}", role_name(volume.role), volume.target);
    const std::string drives = describe_drives(volume);
    if (!drives.empty()) line += " on " + drives;
  }
  return printable_line(line.empty() ? file_system : line);
}

std::string format_columns(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable_line(cell);
  }
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

std::string format_table(const std::vector<std::vector<std::string>>& rows, const Bold& bold) {
  const std::string table = format_columns(rows);
  const std::size_t heading = table.find('\n');
  return bold(table.substr(0, heading)) + table.substr(heading);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string format_result(const Result& result, const Bold& bold) {
  std::string text;
  for (const std::string& name : file_systems_of(result)) {
    std::vector<const Measurement*> list;
    for (const Measurement& one : result.measurements) {
      if (one.file_system == name && !one.samples.empty()) list.push_back(&one);
    }
    text += bold(describe_volumes(result, name)) + "\n" + blocks(list, bold) + "\n";
  }
  text += format_efficiency(result, bold);
  const Plan& plan = result.plan;
  text += fmt::format(
      "{}: median (lowest–highest); MB = 10^6 bytes; scale {}, blocks of "
      "{}, {} caches; copies by {}\n",
      describe_runs(result), plan.scale, format_binary_size(plan.fc_test.block_size),
      plan.warm ? "warm" : "cold", copy_method_name(plan.fc_test.copy_method));
  return text + remarks(result);
}

std::string format_warning(const Warning& warning) {
  constexpr std::size_t kMost = 1000;
  return fmt::format("warning: {} [{}]; {}\n", printable(warning.text, kMost),
                     printable(warning.code), printable(warning.next_step, kMost));
}

std::string remarks(const Result& result) {
  constexpr std::size_t kMostOfNote = 1000;
  std::string text;
  if (!result.label.empty()) text += fmt::format("label: {}\n", printable(result.label));
  if (!result.note.empty()) text += fmt::format("note: {}\n", printable(result.note, kMostOfNote));
  text += fmt::format("{}, {}, Linux {}; filereel {}", printable(result.host.cpu),
                      counted(result.host.cores, "core", "cores"), printable(result.host.kernel),
                      printable(result.version));
  if (result.overhead_ns > 0) {
    text += fmt::format(" takes {:.0f} ns per operation itself", result.overhead_ns);
  }
  text += '\n';
  if (!result.complete) text += "INCOMPLETE: the run ended before all was measured\n";
  for (const Warning& warning : result.warnings) {
    text += format_warning(warning);
  }
  return text;
}

}  // namespace filereel
