// A run that people watch: progress on the terminal, warnings and results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/compare/prediction_json.h"
#include "replay/run/observer.h"
#include "replay/volumes/target.h"
#include "tools/cli/live.h"
#include "tools/cli/output_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/session.h"
#include "tools/cli/signals.h"

namespace filereel {

// --- Shows the progress of a run on the terminal or in a log, and saves its result.

// A result and its file; "" and "-" for none.
struct ResultFile {
  Result& result;
  std::string path;
};

class TerminalObserver final : public RunObserver {
 public:
  // `session`, `signals` and the results must outlive the observer. If the output is closed, the
  // run ends as on SIGHUP.
  TerminalObserver(const Session& session, SignalWatch& signals,
                   const std::vector<ResultFile>& files, const LiveOptions& live);

  void notice(const std::string& text) override;
  void step_begins(const StepInfo& step, const ReplayProgress& progress) override;
  void step_ended() override;
  // Saves the result in its file, unless that takes too much time: a large sweep has a large
  // result.
  void result_grew(const Result& result) override;

  // Why live figures could not be written; "" if they were.
  std::string failure() const { return live_.failure(); }

  void save() const;      // all
  void save_new() const;  // all whose file does not exist yet

 private:
  struct Kept {
    ResultFile file;
    bool stream = false;                        // what was sent stays sent: saved once, at the end
    std::uint64_t saved_ns = 0, saving_ns = 0;  // time of the last save, and its duration
  };
  void save(const ResultFile& kept, bool replace = true) const;
  std::string describe();

  const Session& session_;
  std::vector<Kept> kept_;
  bool lines_;  // --live, which replaces other progress
  std::uint64_t run_began_ns_;
  PlainProgress plain_;
  std::mutex mutex_;
  std::optional<StepInfo> step_;
  const ReplayProgress* progress_ = nullptr;
  std::uint64_t began_ns_ = 0;
  LastSecond last_second_;
  LiveOutput live_;
  ProgressLine line_;  // last: its thread uses all of the above
};

// --- Common parts of the commands that measure.

// Output options of a result.
struct ResultOptions {
  // Files for it and its report; "" for none, "-" for standard output.
  std::string json, html;
  std::string label, note;  // stored in the result
  // Of each volume of --against, in their order; empty for none.
  std::vector<std::string> against_json, against_label;
  std::string plan_digest;  // PlanRecord::digest
  bool hide_serials = false;
  LiveOptions live;  // figures of every second while it runs
};

// Adds --json, --html, --note, --hide-serial, --live and --live-json to a command; `options` must
// outlive the command.
void add_result_options(CLI::App& command, ResultOptions& options);

// Fills the results, one for each volume of those that take turns. Returns false if interrupted.
using Measure = std::function<bool(RunObserver& observer, std::span<Result> results)>;

// First checks that all outputs are distinct, writable and outside the volumes; throws Error
// otherwise. Then runs `measure` with progress on the terminal, adds warnings to the result
// (replay/results/checks.h), saves it to the files of `options` and prints it. This also happens
// after an interruption, which sets the session's exit code, and after an Error, which is rethrown.
// If nothing was measured, an existing file is kept. `against` more volumes in turns give a result
// each: then it also prints their comparisons (compare_in_turns), and sets the exit code to
// kRegression if the second of two is slower. Returns the results.
std::vector<Result> observe_run(Session& session, SignalWatch& signals,
                                const ResultOptions& options, const std::vector<Target>& volumes,
                                std::size_t against, const Measure& measure);

// The files to which all these write, with their options.
std::vector<OutputFile> outputs_of(const ResultOptions& options);

// The same for the results of `count` volumes, without saving or printing them. Throws any Error.
std::vector<Result> observe_quietly(Session& session, SignalWatch& signals,
                                    const ResultOptions& options,
                                    const std::vector<Target>& volumes, std::size_t count,
                                    const Measure& measure);

// Writes the HTML report of the results to a file; "" for none, "-" for standard output.
void write_report(const Session& session, std::span<const Result> results, const std::string& to);
// The same with a prediction from them.
void write_report(const Session& session, const StoredPrediction& stored, const std::string& to);

// Throws Error(failed) if a replay diverged from its trace in a way that matters.
void require_verified(std::span<const Result> results);

}  // namespace filereel
