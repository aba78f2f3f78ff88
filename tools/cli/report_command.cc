// filereel report: writes results as an HTML page, tables or data for other programs.
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "replay/report/html_report.h"
#include "replay/report/text_reports.h"
#include "replay/results/work_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/output_options.h"
#include "tools/cli/result_file.h"

namespace filereel {
namespace {

struct ReportArguments {
  std::vector<std::string> results, base, fresh;
  std::string reference, html, csv, markdown;
};

struct ReportOutput {
  const std::string* file;
  std::function<std::string(std::vector<ReportedResult>&, std::span<const StoredPrediction>)> make;
};

// The predictions have their results in the list, too.
struct LoadedFiles {
  std::vector<ReportedResult> results = {};
  std::vector<StoredPrediction> predictions = {};

  void load(const std::string& path, const std::string& group, ResultDetail detail) {
    const std::string text = read_result(path);
    std::optional<StoredPrediction> stored = load_prediction(path, text, detail);
    if (!stored) {
      results.push_back({path, load_result(path, text, detail), group});
      return;
    }
    for (const Result& result : stored->results) results.push_back({path, result, group});
    predictions.push_back(*std::move(stored));
  }
};

// The page is the last one: it takes the results.
std::vector<ReportOutput> outputs_of(const ReportArguments& arguments) {
  const std::vector<ReportOutput> all = {
      {&arguments.csv, [](const auto& results, const auto&) { return samples_csv(results); }},
      {&arguments.markdown,
       [](const auto& results, const auto& predictions) {
         return markdown_report(results, predictions);
       }},
      {&arguments.html,
       [](auto& results, const auto& predictions) {
         return html_report(std::move(results), predictions);
       }},
  };
  std::vector<ReportOutput> wanted;
  std::ranges::copy_if(all, std::back_inserter(wanted),
                       [](const ReportOutput& output) { return !output.file->empty(); });
  if (wanted.empty()) {
    throw Error(ErrorKind::usage, "no output: add -o report.html");
  }
  check_output_files(
      {{"--output", arguments.html}, {"--csv", arguments.csv}, {"--markdown", arguments.markdown}});
  return wanted;
}

// Marks the result that indices are relative to, found by its label or file.
void mark_reference(const std::string& name, std::vector<ReportedResult>& results) {
  if (name.empty()) return;
  bool any = false;
  std::vector<std::string> names;
  for (ReportedResult& reported : results) {
    reported.reference = reported.result.label == name || reported.file == name;
    any = any || reported.reference;
    names.push_back(reported.result.label.empty() ? reported.file : reported.result.label);
  }
  if (any) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("--reference '{}' is neither a label nor a file of the results; use one of: {}",
                  printable(name), printable(fmt::format("{}", fmt::join(names, ", ")))));
}

void report(const ReportArguments& arguments, const Session& session) {
  const std::vector<ReportOutput> outputs = outputs_of(arguments);
  // Only the page shows the rest.
  const ResultDetail detail = arguments.html.empty() ? ResultDetail::figures : ResultDetail::all;
  LoadedFiles loaded;
  for (const std::string& path : arguments.results) loaded.load(path, "", detail);
  for (const std::string& path : arguments.base) loaded.load(path, "base", detail);
  for (const std::string& path : arguments.fresh) loaded.load(path, "new", detail);
  std::vector<ReportedResult>& results = loaded.results;
  if (results.empty()) {
    throw Error(ErrorKind::usage,
                "report needs a result: filereel report RESULT.json -o FILE.html");
  }
  std::vector<Result*> all;
  for (ReportedResult& reported : results) all.push_back(&reported.result);
  name_alike(all);
  mark_reference(arguments.reference, results);
  for (const ReportOutput& output : outputs) {
    session.print_to(*output.file, output.make(results, loaded.predictions));
  }
}

}  // namespace

void add_report_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("report", "Write results as a page with charts, as tables or as data");
  const auto arguments = std::make_shared<ReportArguments>();
  command->add_option("RESULT", arguments->results,
                      "Results written by run, replay or predict with --json; those of one drive "
                      "share a column");
  command->add_option("--base", arguments->base, "Result of the base column; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--new", arguments->fresh, "Result of the new column; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--reference", arguments->reference,
                      "Label or file of the result with index 100");
  add_output_option(*command, "-o,--output", arguments->html, OutputKind::page,
                    "Write the page to this HTML file, which works offline; - for standard output");
  add_output_option(*command, "--csv", arguments->csv, OutputKind::csv,
                    "Write a row for each sample to this CSV file");
  add_output_option(*command, "--markdown", arguments->markdown, OutputKind::markdown,
                    "Write Markdown tables to this file");
  command->footer(
      "Examples:\n  filereel report drive.json -o drive.html\n"
      "  filereel report acme-*.json bolt-*.json -o review.html\n"
      "  filereel report before.json after.json -o firmware.html --markdown firmware.md\n"
      "  filereel report drive.json --csv - | head");
  command->callback([arguments, &session] { report(*arguments, session); });
}

}  // namespace filereel
