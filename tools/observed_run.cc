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
#include "replay/compare/comparison.h"
#include "replay/report/html_report.h"
#include "replay/results/checks.h"
#include "replay/results/failures.h"
#include "replay/results/result_json.h"
#include "tools/compare_table.h"
#include "tools/comparison_output.h"
#include "tools/output_files.h"
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
  const std::vector<OutputFile> outputs = {{"--json", options.json},
                                           {"--html", options.html},
                                           {"--against-json", options.against_json},
                                           {"--live-json", options.live.json}};
  check_outside(outputs, volumes);
  check_output_files(outputs);
}

}  // namespace

void write_report(const Session& session, std::span<const Result> results, const std::string& to) {
  if (to.empty()) return;
  std::vector<ReportedResult> reported;
  for (const Result& result : results) reported.push_back({"", result});
  session.print_to(to, html_report(std::move(reported)));
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
                                bool in_turn, const Measure& measure) {
  check_outputs(options, volumes);
  std::vector<Result> results(in_turn ? 2 : 1);
  for (Result& one : results) mark(one, options);
  Result& base = results.front();
  base.label = options.label;
  Result* const against = in_turn ? &results.back() : nullptr;
  if (against) against->label = options.against_label;
  std::vector<ResultFile> files = {{base, options.json}};
  if (against) files.push_back({*against, options.against_json});
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
  for (const Result& one : results) {
    if (!in_turn || has_samples(one))
      output.print(format_result(one, bold) + (in_turn ? "\n" : ""));
  }
  if (in_turn && std::ranges::all_of(results, has_samples)) {
    const ResultComparison comparison = compare_results({&base, 1}, {against, 1});
    // Differences from the trace fail the run anyway (require_verified).
    const bool verified = std::ranges::all_of(
        results, [](const Result& result) { return failures_of(result).empty(); });
    if (!failure && verified && session.exit_code != Session::kInterrupted) {
      require_common(comparison, {&base, 1}, {against, 1});
    }
    output.print(format_comparison(comparison, session, output.descriptor(), true));
    if (comparison.regressed() && session.exit_code == 0) session.exit_code = Session::kRegression;
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
