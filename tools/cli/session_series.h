// Several sessions of one command: --sessions and --every.
//
// A session is one run of the plan with its own result (FILE-1.json, FILE-2.json …). The sessions
// of a command are spread over time, because the state of machine and drive differs between them.
//
// - The files are the only state. A series that was interrupted, failed or killed continues with
//   the same command line: a complete file is a finished session, an incomplete one is measured
//   again, and a file of something else is refused before anything is measured (session_files.h).
// - A finished session is added to the history at once. One that was not, because filereel was
//   killed in between, is added when the series continues: the same bytes are stored once.
// - Between sessions nothing is held. Each session opens its volumes and releases them. What is
//   left is the mount namespace, which is then empty, and the signal watch, which ends a pause at
//   once.
// - Within a process, pauses are measured with a clock that neither changes of the time of day nor
//   suspension affect (CLOCK_BOOTTIME). Only a continued series relies on the time of day.
// - Volumes in turn are one session with a file each. The verdict is that of all sessions
//   together: one comparison keeps the promise of at most one false alarm in a hundred, many do
//   not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/run/run_request.h"
#include "tools/cli/history_options.h"
#include "tools/cli/observed_run.h"
#include "tools/cli/session.h"
#include "tools/cli/signals.h"

namespace filereel {

struct SeriesArguments {
  std::string sessions, every;  // as given; empty if not
  HistoryOptions history;
};

// Adds --sessions and --every; `arguments` outlives the command.
void add_series_options(CLI::App& command, SeriesArguments& arguments);

// Call before any work. Throws Error(usage) for values that are wrong or do not fit together.
void check_series(const SeriesArguments& arguments, const ResultOptions& output, bool in_turn);

// More than one session was requested.
bool has_sessions(const SeriesArguments& arguments);

// Measures one session and writes its results to the given files. Sets the exit code of the session
// if it was interrupted. Throws Error.
using MeasureSession = std::function<std::vector<Result>(const ResultOptions& output)>;

struct SessionSeries {
  const SeriesArguments& arguments;
  const ResultOptions& output;         // as given, without numbers
  const RunRequest& request;           // of each session
  const std::vector<Target>& volumes;  // all of them
  bool allow_divergence = false;       // a session that diverged is finished, too
};

// Measures the sessions that are not finished yet. Call check_series() first. Throws Error.
void run_series(const SessionSeries& series, Session& session, SignalWatch& signals,
                const MeasureSession& measure);

}  // namespace filereel
