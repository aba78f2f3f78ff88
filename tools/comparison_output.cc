#include "tools/comparison_output.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/compare/comparison.h"
#include "replay/compare/comparison_json.h"
#include "replay/compare/junit_xml.h"
#include "tools/compare_table.h"
#include "tools/output_files.h"

namespace filereel {
namespace {

// "5%", "5 %" or "0.05".
double parse_share(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, text.data() + text.size());
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "%") value /= 100;
  const bool known = error == std::errc() && (unit.empty() || unit == "%");
  if (!known || !std::isfinite(value) || value <= 0 || value >= 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--threshold '{}' must lie above 0% and below 100%, as in 5%", text));
  }
  return value;
}

CompareOptions options_of(const ComparisonOutput& output) {
  CompareOptions options{.threshold = parse_share(output.threshold)};
  if (!output.stall.empty()) {
    options.stall_ns = parse_duration(output.stall, "--stall", ErrorKind::usage);
    if (options.stall_ns == 0) throw Error(ErrorKind::usage, "--stall must be more than 0");
  }
  return options;
}

}  // namespace

void add_comparison_options(CLI::App& command, ComparisonOutput& output) {
  command.add_option("--threshold", output.threshold,
                     "The smallest change of time that matters (2%)");
  command.add_option("--stall", output.stall,
                     "Threshold for stalls (3 times p99.9 of the base, at least 10ms)");
  command.add_flag("--strict", output.strict,
                   "Exit with 5 if nothing is slower but something is undecided");
  command.add_option("--json", output.json, "Write the comparison here; - for standard output");
  command.add_option("--junit", output.junit, "The same as JUnit XML for CI systems");
}

void check_output(const ComparisonOutput& output) {
  options_of(output);
  check_output_files({{"--json", output.json}, {"--junit", output.junit}});
}

void show_comparison(std::span<const Result> base, std::span<const Result> fresh,
                     const ComparisonOutput& output, Session& session) {
  const ResultComparison comparison = compare_results(base, fresh, options_of(output));
  const bool to_program = output.json == "-" || output.junit == "-";
  if (!to_program) session.print(format_comparison(comparison, session, STDOUT_FILENO));
  if (!output.json.empty()) session.print_to(output.json, comparison_to_json(comparison));
  if (!output.junit.empty()) session.print_to(output.junit, comparison_to_junit(comparison));
  if (comparison.regressed()) {
    session.exit_code = Session::kRegression;
  } else if (output.strict && comparison.undecided()) {
    session.exit_code = Session::kUndecided;
  }
}

}  // namespace filereel
