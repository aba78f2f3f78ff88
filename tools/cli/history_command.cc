// filereel history: stores results by device and firmware, and shows trends.
#include "tools/cli/history_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "replay/compare/comparison_formats.h"
#include "replay/history/history.h"
#include "replay/history/history_page.h"
#include "replay/history/trend.h"
#include "replay/json.h"
#include "tools/cli/commands.h"
#include "tools/cli/comparison_output.h"
#include "tools/cli/history_options.h"
#include "tools/cli/output_options.h"
#include "tools/cli/result_file.h"

namespace filereel {
namespace {

constexpr std::size_t kMostOfLine = 1000;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : printable(text);
}

std::string percent(double share) {
  return fmt::format("{:+.1f} %", share * 100);
}

std::string change_over_all(const TrendSeries& series) {
  if (series.change) return percent(*series.change);
  return series.points.size() == 1 ? "one result" : "-";
}

// "-85.6 %", and below it "-94.1 to -65.0 %": the change and its interval.
Cell by_firmware(const TrendSeries& series) {
  Cell cell(series.firmware_change ? percent(*series.firmware_change) : "-");
  if (const auto& interval = series.firmware_interval) {
    cell.below = fmt::format("{:+.1f} to {}", interval->low * 100, percent(interval->high));
  }
  return cell;
}

std::string file_systems(const Result& result) {
  std::vector<std::string> names;
  for (const Measurement& one : result.measurements) {
    if (!contains(names, one.file_system)) names.push_back(one.file_system);
  }
  return names.empty() ? "-" : printable(fmt::format("{}", fmt::join(names, ",")));
}

bool has_interval(const std::vector<DeviceTrend>& trends) {
  return std::ranges::any_of(trends, [](const DeviceTrend& trend) {
    return std::ranges::any_of(trend.series, [](const TrendSeries& series) {
      return series.firmware_interval.has_value();
    });
  });
}

// Without the columns that say nothing in any row.
Rows without_empty(const Rows& rows) {
  Rows kept(rows.size());
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    const auto is_empty = [&](const auto& row) { return row[column].text == "-"; };
    if (std::ranges::all_of(rows.begin() + 1, rows.end(), is_empty)) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) kept[i].push_back(rows[i][column]);
  }
  return kept;
}

// The directories of a device's results, as `compare` takes them; a name that lies in none itself.
std::vector<std::string> folders_of(const HistoryDirectory& history, const std::string& device) {
  std::vector<std::string> folders;
  for (const HistoryEntry& entry : history.entries) {
    if (entry.device != device) continue;
    std::string folder = printable(entry.name.substr(0, entry.name.rfind('/')));
    if (!contains(folders, folder)) folders.push_back(std::move(folder));
  }
  return folders;
}

std::string key_line(const TrendSeries& series) {
  std::string line = key_text(series.key);
  if (!series.options.empty()) line += " (" + series.options + ")";
  return printable(line);
}

}  // namespace

std::string format_history(const HistoryDirectory& history, const Bold& bold) {
  std::vector<std::string> devices;
  for (const HistoryEntry& entry : history.entries) {
    if (!contains(devices, entry.device)) devices.push_back(entry.device);
  }
  std::string text;
  for (const std::string& device : devices) {
    if (!text.empty()) text += "\n";
    text += bold(printable(device)) + "\n";
    Rows rows = {{"", "started", "firmware", "plan", "file systems", "measured", "label"}};
    for (const HistoryEntry& entry : history.entries) {
      if (entry.device != device) continue;
      const Result& result = entry.result;
      rows.push_back(
          {fmt::format("{}", entry.number), printable(entry.started), or_dash(entry.firmware),
           or_dash(result.plan.name), file_systems(result),
           fmt::format("{}{}", result.measurements.size(), result.complete ? "" : " (incomplete)"),
           or_dash(entry.label)});
    }
    text += format_columns(without_empty(rows));
    text += wrapped(fmt::format("in {}", fmt::join(folders_of(history, device), ", ")), 2);
  }
  return text.empty() ? "no results\n" : text;
}

std::string history_to_json(const HistoryDirectory& history) {
  Json list = Json::array();
  for (const HistoryEntry& entry : history.entries) {
    list.push_back({{"number", entry.number},
                    {"name", entry.name},
                    {"device", entry.device},
                    {"firmware", entry.firmware},
                    {"started", entry.started},
                    {"label", entry.label},
                    {"plan", entry.result.plan.name},
                    {"measurements", entry.result.measurements.size()},
                    {"complete", entry.result.complete}});
  }
  return dump({{"results", std::move(list)}});
}

std::string sparkline(const TrendSeries& series) {
  static constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kLeastRange = 0.1;  // as a share of the highest
  const auto [low, high] =
      std::ranges::minmax(series.points, {}, [](const auto& one) { return one.figure.median; });
  const double top = high.figure.median;
  const double range = std::max(top - low.figure.median, top * kLeastRange);
  // Centred if it does not use the full height.
  const double bottom = (top + low.figure.median - range) / 2;
  std::string text;
  const TrendPoint* before = nullptr;
  for (const TrendPoint& point : series.points) {
    if (before && before->firmware != point.firmware) text += "|";
    before = &point;
    const double share = range > 0 ? (point.figure.median - bottom) / range : 0.5;
    const double step = std::floor(share * static_cast<double>(kBars.size()));
    text += kBars.at(
        static_cast<std::size_t>(std::clamp(step, 0.0, static_cast<double>(kBars.size() - 1))));
  }
  return text;
}

std::string format_trends(const std::vector<DeviceTrend>& trends, const Bold& bold) {
  std::string text;
  for (const DeviceTrend& trend : trends) {
    if (!text.empty()) text += "\n";
    text += bold(printable(trend.device)) + "\n";
    std::string revisions;
    for (const TrendFirmware& one : trend.firmware) {
      if (!revisions.empty()) revisions += " | ";
      revisions += fmt::format("{} from {}", one.name.empty() ? "unknown" : printable(one.name),
                               printable(one.started));
    }
    text += wrapped("firmware: " + revisions, 2);
    Rows rows = {
        {"measurement", "unit", "results", "first", "last", "change", "by firmware", "over time"}};
    for (const TrendSeries& series : trend.series) {
      rows.push_back({key_line(series), series.unit, fmt::format("{}", series.points.size()),
                      format_number(series.points.front().figure.median),
                      format_number(series.points.back().figure.median), change_over_all(series),
                      by_firmware(series), sparkline(series)});
    }
    if (!trend.series.empty()) text += format_columns(rows);
    for (const std::string& one : trend.left_out)
      text += wrapped("left out: " + printable(one, kMostOfLine), 2);
  }
  if (has_interval(trends)) {
    text += "\n" + wrapped(
                       "by firmware: change with the last firmware; below it its 95 % interval, "
                       "which contains the spread between sessions",
                       0);
  }
  return text.empty() ? "no measurements\n" : text;
}

std::string trends_to_json(const std::vector<DeviceTrend>& trends) {
  Json devices = Json::array();
  for (const DeviceTrend& trend : trends) {
    Json firmware = Json::array(), measurements = Json::array();
    for (const TrendFirmware& one : trend.firmware) {
      firmware.push_back({{"name", one.name}, {"started", one.started}});
    }
    for (const TrendSeries& series : trend.series) {
      Json points = Json::array();
      for (const TrendPoint& point : series.points) {
        points.push_back({{"number", point.entry},
                          {"started", point.started},
                          {"firmware", point.firmware},
                          {"complete", point.complete},
                          {"median", point.figure.median},
                          {"low", point.figure.low},
                          {"high", point.figure.high}});
      }
      Json& json = measurements.emplace_back(key_to_json(series.key));
      json["options"] = series.options;
      json["unit"] = series.unit;
      if (series.change) json["change"] = *series.change;
      json["points"] = std::move(points);
      if (series.firmware_change) json["firmware_change"] = *series.firmware_change;
      if (const auto& interval = series.firmware_interval) {
        json["firmware_change_interval_95"] = {{"low", interval->low}, {"high", interval->high}};
      }
    }
    devices.push_back({{"device", trend.device},
                       {"firmware", std::move(firmware)},
                       {"measurements", std::move(measurements)}});
    if (!trend.left_out.empty()) devices.back()["left_out"] = trend.left_out;
  }
  return dump({{"devices", std::move(devices)}});
}

namespace {

struct HistoryArguments {
  std::string folder;
  std::vector<std::string> results;
  TestedDevice said;  // device of the added results, as given by options
  TrendFilter filter;
  std::string base, fresh;
  ComparisonOutput comparison;
  bool json = false;
  std::string page;  // file, or "-"
};

Bold bold(const Session& session) {
  return [&session](const std::string& text) { return session.bold(text, STDOUT_FILENO); };
}

// Reads the history. Files that do not belong to it are named in a notice.
HistoryDirectory load_history(const HistoryArguments& arguments, const Session& session) {
  HistoryDirectory history = read_history(arguments.folder);
  if (!history.others.empty()) {
    const std::size_t more = history.others.size() - 1;
    session.notice(fmt::format("skipped: {}{}", history.others.front(),
                               more == 0 ? "" : fmt::format(", and {} more", more)));
  }
  return history;
}

// Reads all results before adding any, so that a wrong name adds nothing.
void add(const HistoryArguments& arguments, const Session& session) {
  std::vector<HistoryAddition> additions;
  for (const std::string& path : arguments.results) {
    additions.push_back(make_addition(path, read_result(path), arguments.said));
  }
  for (const auto& [text, result] : additions) {
    const AddedResult added = add_to_history(arguments.folder, result, text);
    session.print(
        fmt::format("{}{}\n", added.name, added.already_existed ? " (already stored)" : ""));
  }
  warn_of_same_names({arguments.folder, arguments.said}, additions, session);
}

void list(const HistoryArguments& arguments, const Session& session) {
  const HistoryDirectory history = load_history(arguments, session);
  arguments.json ? session.write(history_to_json(history))
                 : session.print(format_history(history, bold(session)));
}

std::vector<Result> find_results(const HistoryDirectory& history, const std::string& which) {
  std::vector<Result> results;
  for (HistoryEntry& entry : find_entries(history, which)) {
    results.push_back(std::move(entry.result));
  }
  return results;
}

void compare(const HistoryArguments& arguments, Session& session) {
  check_output(arguments.comparison);
  const HistoryDirectory history = load_history(arguments, session);
  const std::vector<Result> base = find_results(history, arguments.base),
                            fresh = find_results(history, arguments.fresh);
  show_comparison(base, fresh, arguments.comparison, session, other_sessions(history, base, fresh));
}

void trend(const HistoryArguments& arguments, const Session& session) {
  const HistoryDirectory history = load_history(arguments, session);
  const std::vector<DeviceTrend> trends = trends_of(history, arguments.filter);
  arguments.json ? session.write(trends_to_json(trends))
                 : session.print(format_trends(trends, bold(session)));
}

void report(const HistoryArguments& arguments, const Session& session) {
  check_output_files({{"--output", arguments.page}});
  const HistoryDirectory history = load_history(arguments, session);
  session.print_to(arguments.page, history_page(history, arguments.filter));
}

void add_add(CLI::App& history, const std::shared_ptr<HistoryArguments>& arguments,
             const Session& session) {
  CLI::App* command =
      history.add_subcommand("add", "Copy results into DIR, by device and firmware");
  command->add_option("RESULTS", arguments->results, "Results written by run or replay with --json")
      ->required();
  add_device_options(*command, arguments->said);
  command->footer(
      "Examples:\n  filereel history drives add before.json after.json\n"
      "  filereel history drives add usb.json --device 'Stick 64G' --firmware 1.08");
  command->callback([arguments, &session] { add(*arguments, session); });
}

void add_list(CLI::App& history, const std::shared_ptr<HistoryArguments>& arguments,
              const Session& session) {
  CLI::App* command = history.add_subcommand("list", "List the results in DIR (the default)");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer("Example:\n  filereel history drives list");
  command->callback([arguments, &session] { list(*arguments, session); });
}

void add_compare(CLI::App& history, const std::shared_ptr<HistoryArguments>& arguments,
                 Session& session) {
  CLI::App* command = history.add_subcommand(
      "compare", "Compare two results of the history, like filereel compare");
  const std::string names =
      ": number, name, or directory of a device or firmware, as printed by list";
  command->add_option("A", arguments->base, "The base" + names)->required();
  command->add_option("B", arguments->fresh, "The new" + names)->required();
  add_comparison_options(*command, arguments->comparison);
  command->footer(
      "Exits with 4 if a time, a tail or stalls are worse.\n\nExamples:\n  filereel history drives "
      "compare 1 2\n"
      "  filereel history drives compare Fast-Disk-3-S123/1.07 Fast-Disk-3-S123/1.08");
  command->callback([arguments, &session] { compare(*arguments, session); });
}

void add_device_filter(CLI::App& command, HistoryArguments& arguments) {
  command
      .add_option("--device", arguments.filter.devices, "Devices to use, as printed by list (all)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_trend(CLI::App& history, const std::shared_ptr<HistoryArguments>& arguments,
               const Session& session) {
  CLI::App* command = history.add_subcommand("trend", "Show the trend of each measurement");
  add_device_filter(*command, *arguments);
  command->add_option("--set", arguments->filter.sets, "File sets to use (all)")->delimiter(',');
  command->add_option("--operations", arguments->filter.operations, "Operations to use (all)")
      ->delimiter(',');
  command->add_option("--fs", arguments->filter.file_systems, "File systems to use (all)")
      ->delimiter(',');
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer("Example:\n  filereel history drives trend --fs ext4 --operations create,read");
  command->callback([arguments, &session] { trend(*arguments, session); });
}

void add_report(CLI::App& history, const std::shared_ptr<HistoryArguments>& arguments,
                const Session& session) {
  CLI::App* command = history.add_subcommand(
      "report", "Write a page of devices, firmware, trends and proven changes");
  add_output_option(*command, "-o,--output", arguments->page, OutputKind::page,
                    "Page to write; - for standard output")
      ->required();
  add_device_filter(*command, *arguments);
  command->footer("Example:\n  filereel history drives report -o drives.html");
  command->callback([arguments, &session] { report(*arguments, session); });
}

}  // namespace

void add_history_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("history", "Keep results by device and firmware, and show trends");
  const auto arguments = std::make_shared<HistoryArguments>();
  command->add_option("DIR", arguments->folder, "Directory of results; created by add")->required();
  command->require_subcommand(0, 1);
  add_add(*command, arguments, session);
  add_list(*command, arguments, session);
  add_compare(*command, arguments, session);
  add_trend(*command, arguments, session);
  add_report(*command, arguments, session);
  command->footer(
      "Examples:\n  filereel history drives add drive.json\n  filereel history drives\n"
      "  filereel history drives compare 1 2\n"
      "  filereel history drives trend --fs ext4\n"
      "  filereel history drives report -o drives.html");
  command->callback([command, arguments, &session] {
    if (command->get_subcommands().empty()) list(*arguments, session);
  });
}

}  // namespace filereel
