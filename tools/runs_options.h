// --runs, --precision and --budget of the commands that measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "replay/results/result.h"

namespace filereel {

// As given on the command line; empty if not given.
struct RunsArguments {
  std::string runs, precision, budget;
};

// Adds the options to a command; `arguments` outlives it. `what` is the help of --runs.
void add_runs_options(CLI::App& command, RunsArguments& arguments, const std::string& what);

// Overrides `runs` and `automatic` by the given options. Throws Error(usage).
void apply_runs(const RunsArguments& arguments, std::optional<std::uint32_t>& runs,
                std::optional<AutoRuns>& automatic);

}  // namespace filereel
