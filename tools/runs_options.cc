#include "tools/runs_options.h"

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/units.h"
#include "replay/run/precision.h"

namespace filereel {
namespace {

std::uint32_t run_count(const std::string& text) {
  if (const auto count = parse_number_in<std::uint32_t>(text, 1, kMostRuns)) return *count;
  throw Error(ErrorKind::usage,
              fmt::format("--runs {}: must be auto or a number from 1 to {}", text, kMostRuns));
}

double parse_budget(const std::string& text) {
  const std::uint64_t time = parse_duration(text, "--budget", ErrorKind::usage);
  if (time == 0) throw Error(ErrorKind::usage, "--budget must be more than 0");
  return static_cast<double>(time) * 1e-9;
}

}  // namespace

void add_runs_options(CLI::App& command, RunsArguments& arguments, const std::string& what) {
  command.add_option("--runs", arguments.runs, what + "; auto: until all intervals are narrow");
  command.add_option(
      "--precision", arguments.precision,
      "With --runs auto: target width of 95 % intervals, of rates (5%) and of a tail (p99.9=10%)");
  command.add_option("--budget", arguments.budget, "With --runs auto: time limit (30min)");
}

void apply_runs(const RunsArguments& arguments, std::optional<std::uint32_t>& runs,
                std::optional<AutoRuns>& automatic) {
  if (arguments.runs == "auto") {
    if (!automatic) automatic.emplace();
  } else if (!arguments.runs.empty()) {
    runs = run_count(arguments.runs);
    automatic.reset();
  }
  const auto check = [&](const std::string& text, std::string_view option) {
    if (text.empty() || automatic) return;
    throw Error(ErrorKind::usage, fmt::format("{} needs --runs auto", option));
  };
  check(arguments.precision, "--precision");
  check(arguments.budget, "--budget");
  if (!arguments.precision.empty()) {
    const std::string wrong = read_precision(arguments.precision, *automatic);
    if (!wrong.empty()) {
      throw Error(ErrorKind::usage, fmt::format("--precision {}: {}", arguments.precision, wrong));
    }
  }
  if (!arguments.budget.empty()) automatic->budget_s = parse_budget(arguments.budget);
}

}  // namespace filereel
