#include "tools/observed_run.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/memory.h"
#include "replay/report/html_report.h"
#include "replay/results/checks.h"
#include "replay/results/failures.h"
#include "replay/results/result_json.h"
#include "tools/comparison_output.h"
#include "tools/output_options.h"
#include "tools/result_table.h"
#include "tools/terminal_observer.h"

namespace filereel {
namespace {

bool has_samples(const Result& result) {
  return std::ranges::any_of(result.measurements,
                             [](const Measurement& one) { return !one.samples.empty(); });
}

constexpr std::string_view kStandardOutput = "-";

// Where tables go: to standard error if standard output carries data for programs.
struct Output {
  Session& session;
  bool taken = false;

  int descriptor() const { return taken ? STDERR_FILENO : STDOUT_FILENO; }
  void print(const std::string& table) const {
    taken ? static_cast<void>(session.print_aside(table)) : session.print(table);
  }
};

// Stores the user's remarks in a result.
void mark(Result& result, const ResultOptions& options) {
  result.note = options.note;
  result.serials_hidden = options.hide_serials;
  result.plan.digest = options.plan_digest;
}

// Measures into the results of `files`. Returns an Error that occurred after the first measurement;
// throws an earlier one.
std::optional<Error> watch(Session& session, SignalWatch& signals,
                           const std::vector<ResultFile>& files, const LiveOptions& live,
                           const std::function<bool(RunObserver&)>& measure) {
  std::optional<Error> failure;
  TerminalObserver observer(session, signals, files, live);
  const auto measured = [&] {
    return std::ranges::any_of(files,
                               [](const ResultFile& file) { return has_samples(file.result); });
  };
  try {
    if (!within_memory("the measurement", [&] { return measure(observer); }))
      session.exit_code = Session::kInterrupted;
  } catch (const Error& error) {
    if (!measured()) throw;
    failure = error;
  }
  if (!failure && !observer.failure().empty())
    failure.emplace(ErrorKind::failed, observer.failure());
  for (const ResultFile& file : files) check_result(file.result);
  const bool interrupted = session.exit_code == Session::kInterrupted;
  interrupted && !measured() ? observer.save_new() : observer.save();
  return failure;
}

void finish(const Session& session, const std::optional<Error>& failure) {
  if (failure) throw Error(*failure);
  if (session.exit_code == Session::kInterrupted) session.notice("filereel: interrupted");
}

void check_outputs(const ResultOptions& options, const std::vector<Target>& volumes) {
  const std::vector<OutputFile> outputs = outputs_of(options);
  check_outside(outputs, volumes);
  check_output_files(outputs);
}

std::vector<ReportedResult> reported(std::span<const Result> results) {
  std::vector<ReportedResult> list;
  for (const Result& result : results) list.push_back({"", result});
  return list;
}

}  // namespace

std::vector<OutputFile> outputs_of(const ResultOptions& options) {
  std::vector<OutputFile> outputs = {{"--json", options.json}, {"--html", options.html}};
  for (const std::string& file : options.against_json) outputs.push_back({"--against-json", file});
  outputs.push_back({"--live-json", options.live.json});
  return outputs;
}

void write_report(const Session& session, std::span<const Result> results, const std::string& to) {
  if (to.empty()) return;
  session.print_to(to, html_report(reported(results)));
}

void write_report(const Session& session, const StoredPrediction& stored, const std::string& to) {
  if (to.empty()) return;
  session.print_to(to, html_report(reported(stored.results), {&stored, 1}));
}

void add_result_options(CLI::App& command, ResultOptions& options) {
  add_output_option(command, "--json", options.json, OutputKind::json,
                    "Write the result to this file; - for standard output");
  add_output_option(command, "--html", options.html, OutputKind::page,
                    "Write the report page to this file; - for standard output");
  command.add_option("--note", options.note, "Comment to store in the result");
  command.add_flag("--hide-serial", options.hide_serials,
                   "Store hashes instead of serial numbers and shares");
  command.add_flag("--live", options.live.lines,
                   "Print throughput and latencies every second, on standard error");
  add_output_option(command, "--live-json", options.live.json, OutputKind::json_lines,
                    "Write these figures to this file as JSON lines; - for standard output");
}

std::vector<Result> observe_run(Session& session, SignalWatch& signals,
                                const ResultOptions& options, const std::vector<Target>& volumes,
                                std::size_t against, const Measure& measure) {
  check_outputs(options, volumes);
  const bool in_turn = against > 0;
  std::vector<Result> results(1 + against);
  std::vector<ResultFile> files;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto given = [&](const std::string& first, const std::vector<std::string>& others) {
      if (i == 0) return first;
      return i <= others.size() ? others[i - 1] : "";
    };
    mark(results[i], options);
    results[i].label = given(options.label, options.against_label);
    files.push_back({results[i], given(options.json, options.against_json)});
  }
  const auto failure = watch(session, signals, files, options.live,
                             [&](RunObserver& observer) { return measure(observer, results); });
  const auto prints = [](const ResultFile& file) { return file.path == kStandardOutput; };
  const Output output{session, options.html == kStandardOutput ||
                                   options.live.json == kStandardOutput ||
                                   std::ranges::any_of(files, prints)};
  for (const ResultFile& file : files) {
    if (prints(file)) session.write(result_to_json(file.result));
  }
  write_report(session, results, options.html);
  const auto bold = [&](const std::string& text) {
    return session.bold(text, output.descriptor());
  };
  if (in_turn) {
    std::vector<const Result*> measured;
    for (const Result& one : results) {
      if (has_samples(one)) measured.push_back(&one);
    }
    if (!measured.empty()) output.print(format_results(measured, bold));
  } else {
    output.print(format_result(results.front(), bold));
  }
  if (in_turn && std::ranges::all_of(results, has_samples)) {
    std::vector<std::span<const Result>> sides;
    for (const Result& one : results) sides.emplace_back(&one, 1);
    // Differences from the trace fail the run anyway (require_verified).
    const bool verified = std::ranges::all_of(
        results, [](const Result& result) { return failures_of(result).empty(); });
    const bool ended = !failure && verified && session.exit_code != Session::kInterrupted;
    const TurnsComparison turns = compare_in_turns(sides, ended, session, output.descriptor());
    output.print(turns.text);
    if (turns.regressed && session.exit_code == 0) session.exit_code = Session::kRegression;
  }
  finish(session, failure);
  return results;
}

std::vector<Result> observe_quietly(Session& session, SignalWatch& signals,
                                    const ResultOptions& options,
                                    const std::vector<Target>& volumes, std::size_t count,
                                    const Measure& measure) {
  check_outputs(options, volumes);
  std::vector<Result> results(count);
  std::vector<ResultFile> files;
  for (Result& one : results) {
    mark(one, options);
    files.push_back({one, ""});
  }
  finish(session, watch(session, signals, files, options.live,
                        [&](RunObserver& observer) { return measure(observer, results); }));
  return results;
}

void require_verified(std::span<const Result> results) {
  for (const Result& result : results) {
    const std::string differs = failures_of(result);
    if (differs.empty()) continue;
    throw Error(ErrorKind::failed, fmt::format("verification failed: {}; see docs/reel-tools.md "
                                               "for the classes, or use --allow-divergence",
                                               differs));
  }
}

}  // namespace filereel
