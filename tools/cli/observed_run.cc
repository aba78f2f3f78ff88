#include "tools/cli/observed_run.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/terminal.h"
#include "replay/measure/clock.h"
#include "replay/report/html_report.h"
#include "replay/results/checks.h"
#include "replay/results/failures.h"
#include "replay/results/result_json.h"
#include "tools/cli/comparison_output.h"
#include "tools/cli/output_options.h"
#include "tools/cli/result_table.h"

namespace filereel {
namespace {

// No progress line with --live, which prints lines, or with JSON on the same terminal.
bool draws_line(const LiveOptions& live) {
  return !live.lines && !(live.json == "-" && is_terminal(STDOUT_FILENO));
}

}  // namespace

TerminalObserver::TerminalObserver(const Session& session, SignalWatch& signals,
                                   const std::vector<ResultFile>& files, const LiveOptions& live)
    : session_(session),
      lines_(live.lines),
      run_began_ns_(now_ns()),
      plain_(run_began_ns_),
      live_(session, live, run_began_ns_, [&signals] { signals.hang_up(); }),
      line_(session,
            draws_line(live) ? std::function([this] { return describe(); })
                             : std::function<std::string()>(),
            [&signals] { signals.hang_up(); }) {
  for (const ResultFile& file : files) kept_.push_back({file, names_stream(file.path)});
}

void TerminalObserver::notice(const std::string& text) {
  line_.notice(text);
}

void TerminalObserver::step_begins(const StepInfo& step, const ReplayProgress& progress) {
  {
    const std::lock_guard lock(mutex_);
    step_ = step;
    progress_ = &progress;
    began_ns_ = now_ns();
    last_second_ = {};
  }
  live_.step_begins(step, progress);
  if (session_.shows_progress() || lines_) return;
  const std::string line = plain_.step_begins(step, now_ns());
  if (!line.empty()) line_.notice(line);
}

void TerminalObserver::step_ended() {
  live_.step_ended();
  const std::lock_guard lock(mutex_);
  progress_ = nullptr;
}

void TerminalObserver::result_grew(const Result& result) {
  constexpr std::uint64_t kShare = 20;  // saving takes at most 1/20 of the time
  for (Kept& kept : kept_) {
    if (&kept.file.result != &result || kept.stream) continue;
    const std::uint64_t begin = now_ns();
    if (begin - kept.saved_ns < kShare * kept.saving_ns) continue;
    save(kept.file);
    kept.saved_ns = now_ns();
    kept.saving_ns = kept.saved_ns - begin;
  }
}

void TerminalObserver::save() const {
  for (const Kept& kept : kept_) save(kept.file);
}

void TerminalObserver::save_new() const {
  for (const Kept& kept : kept_) save(kept.file, false);
}

void TerminalObserver::save(const ResultFile& kept, bool replace) const {
  if (kept.path.empty() || kept.path == "-") return;
  AtomicFile file(kept.path);
  file.write(result_to_json(kept.result));
  if (!replace) {
    file.commit_new();
  } else if (const std::string elsewhere = file.commit(); !elsewhere.empty()) {
    session_.warn(elsewhere);
  }
}

std::string TerminalObserver::describe() {
  const std::lock_guard lock(mutex_);
  if (!progress_) return "";
  const auto seconds = [](std::uint64_t since) {
    return static_cast<double>(now_ns() - since) * 1e-9;
  };
  const ProgressSnapshot look = progress_->look();
  const bool flushing = look.times.end_ns > 0 && look.times.durable_ns == 0;
  return describe_step(*step_,
                       {.bytes = look.bytes,
                        .files = look.files,
                        .operations = look.operations,
                        .elapsed_s = seconds(began_ns_),
                        .run_s = seconds(run_began_ns_),
                        .last_second = last_second_.add(look, now_ns()),
                        .flushing = flushing},
                       terminal_width() - 1);
}

namespace {

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
                               [](const ResultFile& file) { return file.result.has_samples(); });
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
      if (one.has_samples()) measured.push_back(&one);
    }
    if (!measured.empty()) output.print(format_results(measured, bold));
  } else {
    output.print(format_result(results.front(), bold));
  }
  if (in_turn && std::ranges::all_of(results, &Result::has_samples)) {
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
  for (Result& result : results) {
    mark(result, options);
    files.push_back({result, ""});
  }
  finish(session, watch(session, signals, files, options.live,
                        [&](RunObserver& observer) { return measure(observer, results); }));
  return results;
}

void require_verified(std::span<const Result> results) {
  for (const Result& result : results) {
    const std::string differs = failures_of(result);
    if (differs.empty()) continue;
    throw Error(ErrorKind::failed,
                fmt::format("verification failed: {}; see docs/reel-tools.md for the classes and "
                            "'filereel show REEL --operations' for the operations, or use "
                            "--allow-divergence",
                            differs));
  }
}

}  // namespace filereel
