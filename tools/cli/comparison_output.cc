#include "tools/cli/comparison_output.h"

#include <cmath>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison.h"
#include "replay/compare/comparison_formats.h"
#include "replay/compare/groups.h"
#include "replay/compare/ranking.h"
#include "replay/compare/same_work.h"
#include "replay/results/file_systems.h"
#include "tools/cli/compare_table.h"
#include "tools/cli/output_options.h"
#include "tools/cli/ranking_table.h"
#include "tools/cli/table.h"

namespace filereel {
namespace {

// "5%", "5 %" or "0.05".
double parse_share(std::string_view text) {
  std::string_view unit = text;
  double value = 0;
  const bool is_number = take_number(unit, value);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "%") value /= 100;
  const bool known = is_number && (unit.empty() || unit == "%");
  if (!known || !std::isfinite(value) || value <= 0 || value >= 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--threshold '{}' must be above 0% and below 100%, such as 5%", text));
  }
  return value;
}

// Next step for two sides that have nothing in common.
std::string advice(std::span<const Result> base, std::span<const Result> fresh) {
  const std::vector<std::string> before = file_systems_of(base), after = file_systems_of(fresh);
  const bool choice = before != after && !before.empty() && !after.empty() &&
                      (before.size() > 1 || after.size() > 1);
  if (!choice) return "use the same plan and options for both runs";
  return fmt::format("use the same plan for both runs, or name one file system of each: --fs {},{}",
                     before.front(), after.front());
}

}  // namespace

void require_common(const ResultComparison& comparison, std::span<const Result> base,
                    std::span<const Result> fresh) {
  if (comparison.comparable()) return;
  const std::vector<ComparedMeasurement>& all = comparison.measurements;
  if (!all.empty()) {
    const MeasurementKey& key = all.front().key;
    const Change* const changed =
        find_or_null(comparison.changes, work_name(key.kind, key.workload, key.set), &Change::what);
    const std::string lines =
        changed ? printable(fmt::format(" ({} -> {})", changed->base, changed->fresh)) : "";
    const std::string others = all.size() == 1 ? "" : fmt::format(" and {} more", all.size() - 1);
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("nothing to compare: {}{}: {}{}; use the same plan and options for both "
                    "runs",
                    key_name(key), others, all.front().reason(), lines));
  }
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("nothing to compare: the base result ({}) has {}, the new result ({}) has {}; {}",
                  comparison.base_name, contents_text(base), comparison.fresh_name,
                  contents_text(fresh), advice(base, fresh)));
}

void add_comparison_options(CLI::App& command, ComparisonOutput& output) {
  command.add_option("--threshold", output.threshold, "Smallest change in time that counts (2%)");
  command.add_option(
      "--stall", output.stall,
      "Latency from which an operation is a stall (3 times p99.9 of the base, at least 10ms)");
  command.add_flag("--strict", output.strict,
                   "Exit with 5 if nothing is worse but something is undecided");
  command.add_flag("--all", output.all,
                   "List every measurement, not only what changed and a count of the rest");
  add_output_option(command, "--json", output.json, OutputKind::json,
                    "Write the comparison to this file; - for standard output");
  add_output_option(command, "--junit", output.junit, OutputKind::junit,
                    "Write the comparison as JUnit XML, for CI systems");
}

CompareOptions compare_options(const ComparisonOutput& output) {
  CompareOptions options{.threshold = parse_share(output.threshold)};
  if (!output.stall.empty()) {
    options.stall_ns = parse_duration(output.stall, "--stall", ErrorKind::usage);
    if (options.stall_ns == 0) throw Error(ErrorKind::usage, "--stall must be more than 0");
  }
  return options;
}

std::string contents_text(std::span<const Result> results) {
  std::size_t count = 0;
  std::string first;
  for (const Result& result : results) {
    for (const Measurement& measurement : result.measurements) {
      if (measurement.samples.empty()) continue;
      if (count++ == 0) first = key_name(key_of(measurement));
    }
  }
  if (count == 0) return "no measurements";
  return fmt::format("{} on {} ({}{})", counted(count, "measurement", "measurements"),
                     fmt::join(file_systems_of(results), ", "), first, count > 1 ? " …" : "");
}

void check_output(const ComparisonOutput& output) {
  compare_options(output);
  check_output_files({{"--json", output.json}, {"--junit", output.junit}});
}

TurnsComparison compare_in_turns(std::span<const std::span<const Result>> sides, bool required,
                                 const Session& session, int descriptor) {
  TurnsComparison turns;
  const std::span<const Result> base = sides.front();
  for (const std::span<const Result> fresh : sides.subspan(1)) {
    if (sides.size() > 2 && !required) break;
    const ResultComparison comparison = compare_results(base, fresh);
    if (required) require_common(comparison, base, fresh);
    if (sides.size() > 2) continue;
    turns.text = format_comparison(comparison, session, descriptor, true);
    turns.regressed = comparison.regressed();
    return turns;
  }
  std::vector<ResultGroup> groups;
  for (const std::span<const Result> side : sides) {
    groups.push_back({side.front().label, {side.begin(), side.end()}});
  }
  const std::vector<Index> indexes = default_indexes(MatchedGroups(groups));
  turns.text = format_ranking(rank_groups(groups), indexes, session, descriptor, false);
  return turns;
}

void show_comparison(std::span<const Result> base, std::span<const Result> fresh,
                     const ComparisonOutput& output, Session& session,
                     std::span<const std::vector<Result>> earlier, const IndexMaker& make_indexes) {
  const ResultComparison comparison =
      compare_results(base, fresh, compare_options(output), earlier);
  require_common(comparison, base, fresh);
  const std::vector<Index> indexes = make_indexes ? make_indexes(comparison) : std::vector<Index>();
  const bool to_program = output.json == "-" || output.junit == "-";
  if (!to_program) {
    const std::vector<std::string> names = {comparison.base_name, comparison.fresh_name};
    session.print(format_comparison(comparison, session, STDOUT_FILENO, output.all) +
                  format_indexes(indexes, names, session, STDOUT_FILENO));
  }
  if (!output.json.empty()) session.print_to(output.json, comparison_to_json(comparison, indexes));
  if (!output.junit.empty()) session.print_to(output.junit, comparison_to_junit(comparison));
  const ComparedMeasurement* const undone =
      find_or_null(comparison.measurements, true, &ComparedMeasurement::undone);
  if (comparison.regressed()) {
    session.exit_code = Session::kRegression;
  } else if (undone) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: {}", key_name(undone->key), undone->reason()));
  } else if (output.strict && comparison.undecided()) {
    session.exit_code = Session::kUndecided;
  }
}

}  // namespace filereel
