// What the commands that measure have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "replay/run/observer.h"
#include "replay/volumes/target.h"
#include "tools/live_output.h"
#include "tools/session.h"
#include "tools/signals.h"

namespace filereel {

// What becomes of the result, as the command line says.
struct ResultOptions {
  // Files for it and its report; "" for none, "-" for standard output.
  std::string json, html;
  std::string against_json;  // the same for the result of a second volume, where there is one
  std::string label, note;   // kept in it
  std::string against_label;
  bool hide_serials = false;
  LiveOptions live;  // figures of every second while it runs
};

// Adds --json, --html, --label, --note, --hide-serial, --live and --live-json to a command;
// `options` lives as long as it.
void add_result_options(CLI::App& command, ResultOptions& options);

// `against` is the result of the second of two volumes that take turns, else null. Returns false
// when it was interrupted.
using Measure = std::function<bool(RunObserver& observer, Result& result, Result* against)>;

// Throws Error, before anything is measured, unless each output has a place of its own outside the
// volumes and can be written. Then runs `measure` with progress on the terminal, keeps its result
// in the files that the options name, adds what makes its figures less sure
// (replay/results/checks.h) and prints it, also after an interruption, which the session's exit
// code then tells, and after an Error, which is thrown on. Where nothing was measured an older file
// stays. With two volumes that take turns there are two results: then it also prints how the second
// one compares with the first, and if it is slower, the session's exit code is kRegression. Returns
// the results.
std::vector<Result> observe_run(Session& session, SignalWatch& signals,
                                const ResultOptions& options, const std::vector<Target>& volumes,
                                bool in_turn, const Measure& measure);

}  // namespace filereel
