// filereel history: stores results by device and firmware, and shows trends.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "replay/history/history.h"
#include "replay/history/history_page.h"
#include "replay/history/trend.h"
#include "tools/cli/commands.h"
#include "tools/cli/comparison_output.h"
#include "tools/cli/history_options.h"
#include "tools/cli/history_table.h"
#include "tools/cli/output_options.h"
#include "tools/cli/result_file.h"

namespace filereel {
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
