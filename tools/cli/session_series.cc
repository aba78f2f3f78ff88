#include "tools/cli/session_series.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/compared_figures.h"
#include "replay/compare/self_comparison.h"
#include "replay/jobs/job.h"
#include "replay/report/html_report.h"
#include "replay/results/failures.h"
#include "replay/results/result_json.h"
#include "replay/run/plan_digest.h"
#include "tools/cli/compare_table.h"
#include "tools/cli/comparison_output.h"
#include "tools/cli/output_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/result_file.h"
#include "tools/cli/session_files.h"

namespace filereel {
namespace {

constexpr std::uint32_t kMostSessions = 1000;

std::uint32_t sessions_of(const SeriesArguments& arguments) {
  const std::string& text = arguments.sessions;
  if (text.empty()) return 1;
  if (const auto count = parse_number_in<std::uint32_t>(text, 1, kMostSessions)) return *count;
  throw Error(ErrorKind::usage, fmt::format("--sessions {}: must be a number from 1 to {}",
                                            printable(text), kMostSessions));
}

double every_s(const SeriesArguments& arguments) {
  if (arguments.every.empty()) return 0;
  return static_cast<double>(parse_duration(arguments.every, "--every", ErrorKind::usage)) * 1e-9;
}

// Seconds that also pass while the machine is suspended, and that no change of the time affects.
double boot_s() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Returns false if the stop was requested before. The clock of waits does not advance during a
// suspension, so it is a short wait each time.
bool wait_until(double boot_time_s, const std::stop_token& stop) {
  constexpr double kLongest = 1;
  std::mutex idle;
  std::condition_variable_any wake;
  std::unique_lock lock(idle);
  while (!stop.stop_requested()) {
    const double left_s = boot_time_s - boot_s();
    if (left_s <= 0) return true;
    wake.wait_for(lock, stop, std::chrono::duration<double>(std::min(left_s, kLongest)),
                  [] { return false; });
  }
  return false;
}

ResultOptions numbered(ResultOptions output, std::uint32_t number) {
  output.json = numbered_file(output.json, number);
  for (std::string& file : output.against_json) file = numbered_file(file, number);
  output.live.json = numbered_file(output.live.json, number);
  output.html.clear();  // one page of all sessions, at the end
  return output;
}

class SeriesRun {
 public:
  SeriesRun(const SessionSeries& series, Session& session, SignalWatch& signals,
            const MeasureSession& measure)
      : series_(series),
        count_(sessions_of(series.arguments)),
        session_(session),
        signals_(signals),
        measure_(measure) {}

  // A single session, without a number.
  void run_one() const {
    ResultOptions output = series_.output;
    // For a run that is interrupted and resumed.
    if (!output.json.empty() && !names_stream(output.json)) {
      output.plan_digest = plan_digest(series_.request);
    }
    const std::vector<Result> results = measure_(output);
    if (session_.exit_code == Session::kInterrupted) return;
    for (const Result& result : results) {
      if (result.complete) add(series_.output.json, result_to_json(result));
    }
  }

  void run_all() {
    check_outputs();
    const std::vector<ExpectedSession> expected = expect();
    std::vector<std::uint32_t> finished, open;
    for (std::uint32_t number = 1; number <= count_; ++number) {
      (is_finished(number, expected) ? finished : open).push_back(number);
    }
    // Nothing is changed before all files have been checked.
    for (const std::uint32_t number : finished) add_from_files(number);
    if (!finished.empty()) {
      session_.notice(
          fmt::format("{} finished before", counted_of(finished.size(), count_, "session")));
    }
    for (const std::uint32_t number : open) {
      ResultOptions output = numbered(series_.output, number);
      output.plan_digest = expected.front().result.plan.digest;
      if (!wait_for(number) || !measure_one(output, number)) {
        session_.notice(fmt::format("to continue with session {} of {}, use the same command again",
                                    number, count_));
        return;
      }
    }
    finish();
  }

 private:
  void check_outputs() const {
    const ResultOptions& output = series_.output;
    check_output_files(outputs_of(output));
    check_outside({{"--html", output.html}}, series_.volumes);
    for (std::uint32_t number = 1; number <= count_; ++number) {
      const std::vector<OutputFile> files = outputs_of(numbered(output, number));
      if (output.html.empty() || !contains(files, output.html, &OutputFile::file)) {
        continue;
      }
      throw Error(ErrorKind::usage,
                  fmt::format("--html {} is the file of session {}: use two files",
                              printable(output.html), number));
    }
  }

  std::vector<ExpectedSession> expect() const {
    return expect_sessions(series_.request, series_.output);
  }

  // Whether the files are those of a finished session. Throws Error for files of something else,
  // and for those that could not be written.
  bool is_finished(std::uint32_t number, const std::vector<ExpectedSession>& expected) {
    const std::vector<std::string> files = files_of(numbered(series_.output, number));
    bool finished = true;
    std::string started;
    for (std::size_t side = 0; side < files.size(); ++side) {
      if (!is_regular_file(files[side])) {
        const AtomicFile probe(files[side]);
        finished = false;
        continue;
      }
      const std::string text = read_result(files[side]);
      const Result result = load_result(files[side], text, ResultDetail::figures);
      require_ours(result, files[side], expected[side]);
      check_place(files[side], text);
      finished =
          finished && result.complete && (series_.allow_divergence || failures_of(result).empty());
      started = result.started;
    }
    if (finished && started >= last_started_) {
      last_started_ = started;
      last_files_ = files;
    }
    return finished;
  }

  void add_from_files(std::uint32_t number) const {
    for (const std::string& file : files_of(numbered(series_.output, number))) {
      add(file, read_result(file));
    }
  }

  static void require_ours(const Result& result, const std::string& file,
                           const ExpectedSession& expected) {
    const std::string text = session_difference(result, expected);
    if (text.empty()) return;
    throw Error(ErrorKind::usage,
                fmt::format("{} is not a session of this command: {}; repeat the command as it was "
                            "(is everything mounted?), or name another file",
                            printable(file), text));
  }

  // The drive, or its firmware, may have changed during a pause.
  void require_same_drives() const {
    if (last_files_.empty()) return;
    const std::vector<ExpectedSession> now = expect();
    for (std::size_t side = 0; side < now.size(); ++side) {
      require_ours(load_result(last_files_[side], ResultDetail::figures), last_files_[side],
                   now[side]);
    }
  }

  // A continued series must not store its sessions under another drive.
  void check_place(const std::string& file, const std::string& text) const {
    const HistoryOptions& history = series_.arguments.history;
    if (!names_device(history)) return;
    const std::string other =
        stored_elsewhere(history.folder, make_addition(file, text, history.said));
    if (other.empty()) return;
    throw Error(ErrorKind::usage,
                fmt::format("{} is in the history as {}: use the same --device and --firmware, or "
                            "name another file with --json",
                            printable(file), printable(other)));
  }

  void add(const std::string& file, std::string text) const {
    const HistoryOptions& history = series_.arguments.history;
    if (history.folder.empty()) return;
    const HistoryAddition addition = make_addition(file, std::move(text), history.said);
    const AddedResult added = add_to_history(history.folder, addition.result, addition.text);
    if (added.already_existed) return;
    session_.notice(fmt::format("added to {}: {}", printable(history.folder), added.name));
    warn_of_same_names(history, std::span(&addition, 1), session_);
  }

  // The boot time at which the next session begins.
  double next_s() const {
    const double every = every_s(series_.arguments);
    if (last_began_s_) return *last_began_s_ + every;
    if (last_started_.empty()) return 0;
    return boot_s() + seconds_until_next(last_started_, every, static_cast<double>(time(nullptr)));
  }

  // Returns false if the stop was requested.
  bool wait_for(std::uint32_t number) {
    const double begin_s = next_s();
    if (begin_s > boot_s()) {
      const auto text = [this, number, begin_s] {
        return fmt::format("session {} of {} begins in {}", number, count_,
                           format_duration(std::ceil(std::max(0.0, begin_s - boot_s()))));
      };
      ProgressLine line(session_, text, [this] { signals_.hang_up(); });
      if (!session_.shows_progress()) line.notice(text());
      wait_until(begin_s, signals_.token());
    }
    if (!signals_.requested()) return true;
    session_.exit_code = Session::kInterrupted;
    session_.notice("filereel: interrupted");
    return false;
  }

  // Returns false if it was interrupted.
  bool measure_one(const ResultOptions& output, std::uint32_t number) {
    require_same_drives();
    if (last_began_s_) session_.print("\n");  // after the tables of the last one
    session_.print(fmt::format("session {} of {}: {}\n", number, count_, output.json));
    const double began_s = boot_s();
    const std::vector<Result> results = measure_(output);
    if (session_.exit_code == Session::kInterrupted) return false;
    session_.exit_code = 0;  // the verdict is that of all sessions together
    last_began_s_ = began_s;
    last_files_ = files_of(output);
    for (std::size_t side = 0; side < last_files_.size(); ++side) {
      add(last_files_[side], result_to_json(results[side]));
    }
    return true;
  }

  // The page, and the comparison of all sessions: of the volumes in turn, otherwise of the volume
  // with itself.
  void finish() const {
    const bool with_page = !series_.output.html.empty();
    std::vector<ReportedResult> reported;
    std::vector<std::vector<Result>> sides(files_of(series_.output).size());
    for (std::uint32_t number = 1; number <= count_; ++number) {
      const std::vector<std::string> files = files_of(numbered(series_.output, number));
      for (std::size_t side = 0; side < files.size(); ++side) {
        if (with_page) reported.push_back({files[side], load_result(files[side])});
        sides[side].push_back(load_result(files[side], ResultDetail::figures));
      }
    }
    if (with_page) session_.print_to(series_.output.html, html_report(std::move(reported)));
    if (sides.size() > 1) {
      session_.print(fmt::format("All {}:\n", counted(count_, "session")));
      const std::vector<std::span<const Result>> all(sides.begin(), sides.end());
      const TurnsComparison turns = compare_in_turns(all, true, session_, STDOUT_FILENO);
      session_.print(turns.text);
      if (turns.regressed) session_.exit_code = Session::kRegression;
      return;
    }
    const SelfComparison self = compare_with_itself(sides.front());
    if (self.measurements.empty()) return;
    session_.print(
        fmt::format("\nThe {} compared with each other:\n\n", counted(count_, "session")) +
        format_self_comparison(self, session_, STDOUT_FILENO));
    notice_states(sides.front());
  }

  void notice_states(const std::vector<Result>& sessions) const {
    std::vector<double> begins;
    for (const Result& session : sessions) {
      begins.push_back(static_cast<double>(session.started_s().value_or(0)));
    }
    const std::size_t states = figures_by_state(begins, begins).size();
    if (states == sessions.size()) return;
    session_.notice(fmt::format(
        "the {} count as {} in comparisons, because those that begin within {} of each other share "
        "the state of machine and drive; use a longer --every",
        counted(sessions.size(), "session"), states, format_duration(kSameState)));
  }

  const SessionSeries& series_;
  std::uint32_t count_;
  Session& session_;
  SignalWatch& signals_;
  const MeasureSession& measure_;
  std::string last_started_;             // of the finished sessions from before; "" for none
  std::optional<double> last_began_s_;   // the last one of this process
  std::vector<std::string> last_files_;  // of the last finished session; empty for none
};

}  // namespace

void add_series_options(CLI::App& command, SeriesArguments& arguments) {
  command.add_option("--sessions", arguments.sessions,
                     "Number of sessions, each with a result of its own (1)");
  command.add_option("--every", arguments.every,
                     "With --sessions: time from the start of a session to the next (no pause)");
}

bool has_sessions(const SeriesArguments& arguments) {
  return sessions_of(arguments) > 1;
}

void check_series(const SeriesArguments& arguments, const ResultOptions& output, bool in_turn) {
  const HistoryOptions& history = arguments.history;
  const auto refuse = [](bool wrong, std::string_view text) {
    if (wrong) throw Error(ErrorKind::usage, std::string(text));
  };
  check_history(history);
  refuse(in_turn && names_device(history),
         "--device and --firmware name a single drive: with --against, use filereel history add");
  every_s(arguments);
  refuse(arguments.sessions.empty() && !arguments.every.empty(), "--every needs --sessions");
  if (!has_sessions(arguments)) return;
  refuse(output.json.empty(), "--sessions needs --json: each session has a file");
  refuse(in_turn && output.against_json.empty(),
         "--sessions with --against needs --against-json: each volume has a file per session");
  for (const auto& [option, file] : outputs_of(output)) {
    refuse(!file.empty() && names_stream(file),
           fmt::format("{} {} does not support --sessions: name a file", option, printable(file)));
  }
}

void run_series(const SessionSeries& series, Session& session, SignalWatch& signals,
                const MeasureSession& measure) {
  const HistoryOptions& history = series.arguments.history;
  check_outside({{"--history", history.folder}}, series.volumes);
  if (names_device(history) && std::ranges::all_of(series.request.plan.jobs, [](const auto& job) {
        return needs_no_volume(*job);
      })) {
    throw Error(ErrorKind::usage, "--device and --firmware do not apply to the null engine");
  }
  SeriesRun run(series, session, signals, measure);
  has_sessions(series.arguments) ? run.run_all() : run.run_one();
}

}  // namespace filereel
