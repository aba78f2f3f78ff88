#include "replay/compare/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "replay/compare/changes.h"
#include "replay/compare/control.h"
#include "replay/compare/sessions.h"
#include "replay/compare/tails.h"
#include "replay/compare/verdict.h"
#include "replay/compare/work.h"
#include "replay/results/file_systems.h"

namespace filereel {
namespace {

// The replay parameters in the keys of recorded traces, in addition to the sweep's.
constexpr std::array<std::string_view, 6> kReplayParameters = {"order", "pace",   "engine",
                                                               "depth", "verify", "clients"};

// Includes the file system if it is the difference.
std::string names_of(std::span<const Result> results, std::string_view file_system) {
  std::vector<std::string> names;
  for (const Result& result : results) {
    const std::string& name = result.label.empty() ? result.started : result.label;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}{}{}", fmt::join(names, ", "), file_system.empty() ? "" : " on ",
                     file_system);
}

// A measurement that both sides have, and the one of each group of earlier results.
struct MatchedSides {
  PooledMeasurement* base = nullptr;
  PooledMeasurement* fresh = nullptr;
  std::vector<PooledMeasurement*> earlier = {};
  FigureChoice choice = {};

  void forget_controls() const {
    base->controls.clear();
    fresh->controls.clear();
    for (PooledMeasurement* group : earlier) group->controls.clear();
  }
};

PendingComparison test(const MatchedSides& sides, const ControlUse& control,
                       const CompareOptions& options) {
  const PooledMeasurement &base = *sides.base, &fresh = *sides.fresh;
  const FigureChoice& choice = sides.choice;
  PendingComparison tested;
  ComparedMeasurement& row = tested.row;
  row.key = base.key;
  row.figure = choice.figure;
  row.time.reason = choice.obstacle;
  const SideFigures before = side_figures(base, choice.figure),
                    after = side_figures(fresh, choice.figure);
  row.base = side_of(base, before.values);
  row.fresh = side_of(fresh, after.values);
  if (choice.obstacle.empty()) {
    std::vector<SideFigures> earlier;
    for (const PooledMeasurement* group : sides.earlier) {
      if (choose_figure(base, *group).obstacle.empty()) {
        earlier.push_back(side_figures(*group, choice.figure));
      }
    }
    AspectTest& time = tested.questions.emplace_back(
        ask(Aspect::time, before, after, earlier, control.machine ? &*control.machine : nullptr));
    time.least = options.threshold;
    test_tails(base, fresh, options, tested);
    tested.base_busy = busy_share(base);
    tested.fresh_busy = busy_share(fresh);
  }
  return tested;
}

Verdict overall_of(const ResultComparison& comparison) {
  if (comparison.count(Verdict::slower) > 0) return Verdict::slower;
  if (comparison.count(Verdict::faster) > 0) return Verdict::faster;
  const bool all_same = !comparison.measurements.empty() &&
                        comparison.count(Verdict::same) == comparison.measurements.size();
  return all_same ? Verdict::same : Verdict::cannot_tell;
}

void warn_of_incomplete(std::span<const Result> results, std::string_view side,
                        ResultComparison& comparison) {
  const auto incomplete =
      std::ranges::count_if(results, [](const Result& one) { return !one.complete; });
  if (incomplete == 0) return;
  comparison.complete = false;
  comparison.warnings.push_back(
      {"incomplete",
       results.size() == 1
           ? fmt::format("the {} run is incomplete", side)
           : fmt::format("{} of the {} {} runs {} incomplete", incomplete, results.size(), side,
                         agreeing(static_cast<std::size_t>(incomplete), "is", "are")),
       "repeat it until it completes"});
}

void warn_of_missing(const std::vector<MeasurementKey>& keys, std::string_view side,
                     ResultComparison& comparison) {
  if (keys.empty()) return;
  comparison.warnings.push_back(
      {"not-in-both",
       fmt::format("{} only in the {} result: {}{}",
                   counted(keys.size(), "measurement is", "measurements are"), side,
                   key_text(keys.front()), keys.size() > 1 ? " …" : ""),
       "run both with the same plan and options"});
}

void warn_of_changes(ResultComparison& comparison) {
  // The compared change: the firmware, otherwise the file system, otherwise the drive.
  ChangeKind judged = ChangeKind::drive;
  for (const Change& change : comparison.changes) judged = std::min(judged, change.kind);
  std::vector<std::string_view> others;
  for (const Change& change : comparison.changes) {
    if (change.kind != judged) others.push_back(change.what);
  }
  if (others.empty()) return;
  comparison.warnings.push_back(
      {"something-else-changed",
       fmt::format("{}{} changed: the {} may not be the cause", fmt::join(others, ", "),
                   judged == ChangeKind::drive ? "" : " also", change_kind_name(judged)),
       "repeat one of the runs so that only one thing differs"});
}

void warn_of_disturbance(std::span<const PendingComparison> rows, ResultComparison& comparison) {
  const auto disturbed = std::ranges::count_if(rows, &PendingComparison::disturbed);
  if (disturbed == 0) return;
  comparison.warnings.push_back(
      {"unsteady",
       fmt::format("{} may be due to drift or to other programs (first: {})",
                   counted_of(disturbed, rows.size(), "difference"),
                   key_text(std::ranges::find_if(rows, &PendingComparison::disturbed)->row.key)),
       "let the drive and the machine settle, and measure both alternately (filereel run "
       "--against)"});
}

void warn_of_control(ResultComparison& comparison) {
  if (comparison.control.obstacle.empty()) return;
  comparison.warnings.push_back(
      {"control-unused",
       fmt::format("the control volume is not used: {}", comparison.control.obstacle),
       "use the same control volume for all results, on the same kind of storage as the volume "
       "under test"});
}

using ByKey = std::map<MeasurementKey, PooledMeasurement*>;

ByKey by_key(std::vector<PooledMeasurement>& list) {
  ByKey map;
  for (PooledMeasurement& one : list) map.emplace(one.key, &one);
  return map;
}

// Null if there is none.
PooledMeasurement* find(const ByKey& map, const MeasurementKey& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

// Matches the measurements of both sides, and notes those that only one has.
std::vector<MatchedSides> match(std::vector<PooledMeasurement>& before,
                                std::vector<PooledMeasurement>& after,
                                std::vector<std::vector<PooledMeasurement>>& earlier,
                                ResultComparison& comparison) {
  const ByKey before_by_key = by_key(before), after_by_key = by_key(after);
  std::vector<ByKey> groups;
  for (std::vector<PooledMeasurement>& group : earlier) groups.push_back(by_key(group));
  std::vector<MatchedSides> matched;
  for (PooledMeasurement& one : before) {
    PooledMeasurement* const other = find(after_by_key, one.key);
    if (!other) {
      comparison.only_base.push_back(one.key);
      continue;
    }
    MatchedSides& sides = matched.emplace_back(MatchedSides{.base = &one, .fresh = other});
    sides.choice = choose_figure(one, *other);
    for (const ByKey& group : groups) {
      PooledMeasurement* const found = find(group, one.key);
      if (found && !found->samples.empty()) sides.earlier.push_back(found);
    }
  }
  for (const PooledMeasurement& one : after) {
    if (!find(before_by_key, one.key)) comparison.only_fresh.push_back(one.key);
  }
  return matched;
}

// Across file systems, the control differs by its file system, too.
ControlUse control_of(std::span<const MatchedSides> matched, bool across) {
  std::vector<ControlledPair> pairs;
  for (const MatchedSides& one : matched) {
    if (one.choice.obstacle.empty()) pairs.push_back({one.base, one.fresh, one.choice.figure});
  }
  ControlUse use = control_between(pairs);
  if (across && use.used) {
    use.used = false;
    use.obstacle = "the file systems differ, and so do those of the control";
  }
  return use;
}

std::string basis_text(Basis basis, const std::string& machine) {
  switch (basis) {
    case Basis::in_turns:
      return "in turns, by pairs";
    case Basis::control:
      return "between sessions, with a control volume";
    case Basis::sessions:
      return "between sessions, by the spread of several on a side";
    case Basis::history:
      return "between sessions, by their spread in the history";
    case Basis::assumption:
      break;
  }
  return fmt::format(
      "between sessions, assuming that those of a quiet {} differ by {:.0f} %, of a busy one "
      "by more",
      machine == "physical"    ? "physical machine"
      : machine == "container" ? "container"
                               : "virtual machine",
      assumed_spread(machine, Aspect::time, 0) * 100);
}

}  // namespace

std::string_view basis_name(Basis basis) {
  static constexpr std::array<std::string_view, 5> kNames = {"in turns", "control", "sessions",
                                                             "history", "assumption"};
  return kNames[static_cast<std::size_t>(basis)];
}

std::string level_text(std::span<const Basis> bases, const std::string& machine) {
  std::vector<std::string> parts;
  for (const Basis basis :
       {Basis::in_turns, Basis::control, Basis::sessions, Basis::history, Basis::assumption}) {
    const auto count = std::ranges::count(bases, basis);
    if (count == 0) continue;
    std::string part = basis_text(basis, machine);
    if (count < std::ssize(bases)) part += fmt::format(" ({} of {})", count, bases.size());
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string level_of(const ResultComparison& comparison) {
  std::vector<Basis> bases;
  for (const ComparedMeasurement& one : comparison.measurements) {
    if (one.time.p) bases.push_back(one.time.basis);
  }
  return level_text(bases, comparison.machine);
}

std::string promise_text(const ResultComparison& comparison) {
  const std::string level = level_of(comparison);
  if (level.empty()) return "nothing was compared";
  return fmt::format("at most 1 false alarm in {:.0f} comparisons {}",
                     1 / comparison.options.false_alarms, level);
}

std::string control_text(const ControlUse& control) {
  if (!control.used) return "";
  constexpr double kVisible = 0.5;
  const double percent = std::abs(control.change() - 1) * 100;
  if (percent < kVisible) {
    return "the machine did not change between the sessions (control volume)";
  }
  return fmt::format(
      "the machine became {:.0f} % {} between the sessions (control volume{}); "
      "corrected",
      percent, control.change() > 1 ? "slower" : "faster",
      control.changed() ? "" : ", not certain");
}

double ControlUse::change() const {
  return machine ? std::exp(machine->typical) : 1;
}

bool ControlUse::changed() const {
  constexpr double kBeyondChance = 3;  // standard errors
  return machine && std::abs(machine->typical) > kBeyondChance * machine->error;
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::cannot_tell:
      break;
  }
  return "cannot tell";
}

std::string_view aspect_name(Aspect aspect) {
  static constexpr std::array<std::string_view, 3> kNames = {"time", "tail", "stalls"};
  return kNames[static_cast<std::size_t>(aspect)];
}

std::string_view figure_name(Figure figure) {
  switch (figure) {
    case Figure::durable:
      return "time until durable";
    case Figure::elapsed:
      return "elapsed time";
    case Figure::per_operation:
      return "time per operation";
    case Figure::in_calls:
      break;
  }
  return "time in calls";
}

std::string_view change_kind_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::firmware:
      return "firmware";
    case ChangeKind::file_system:
      return "file system";
    case ChangeKind::drive:
      return "drive";
    case ChangeKind::other:
      break;
  }
  return "other";
}

MeasurementKey key_of(const Measurement& measurement) {
  MeasurementKey key{measurement.kind,      measurement.workload,    measurement.set,
                     measurement.operation, measurement.file_system, measurement.parameters};
  if (const auto& replay = measurement.replay) {
    const std::array<std::string, kReplayParameters.size()> how = {
        replay->order,  replay->pace,
        replay->engine, std::to_string(replay->depth),
        replay->verify, std::to_string(replay->clients)};
    for (std::size_t i = 0; i < how.size(); ++i) {
      key.parameters.emplace_back(kReplayParameters[i], how[i]);
    }
  }
  return key;
}

Parameters shared_replay(std::span<const MeasurementKey> keys) {
  std::optional<Parameters> shared;
  for (const MeasurementKey& key : keys) {
    if (!info_of(key.kind).replays) continue;
    if (!shared) shared = key.parameters;
    std::erase_if(*shared, [&](const auto& one) {
      return std::ranges::find(kReplayParameters, one.first) == kReplayParameters.end() ||
             std::ranges::find(key.parameters, one) == key.parameters.end();
    });
  }
  return shared.value_or(Parameters{});
}

std::string key_text(const MeasurementKey& key, const Parameters& without) {
  std::vector<std::string> parts;
  parts.push_back(key.workload);
  if (key.set != key.workload) parts.push_back(key.set);  // the same for traces
  parts.push_back(key.operation);
  parts.push_back(key.file_system);
  std::erase(parts, "");
  for (const auto& one : key.parameters) {
    const bool is_shared =
        info_of(key.kind).replays && std::ranges::find(without, one) != without.end();
    if (!is_shared) parts.push_back(fmt::format("{}={}", one.first, one.second));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string verdict_text(const ComparedMeasurement& one) {
  if (const auto change = one.indicated()) {
    return fmt::format("{} indicated", verdict_name(*change));
  }
  std::string text(verdict_name(one.verdict));
  if (one.verdict != Verdict::slower && one.verdict != Verdict::faster) return text;
  if (one.aspect != Aspect::time) text += fmt::format(" ({})", aspect_name(one.aspect));
  return text;
}

bool ResultComparison::undecided() const {
  return count(Verdict::cannot_tell) > 0 || !only_base.empty() || !only_fresh.empty() ||
         measurements.empty();
}

std::size_t ResultComparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count(measurements, verdict, &ComparedMeasurement::verdict));
}

std::optional<Verdict> ComparedMeasurement::indicated() const {
  if (verdict != Verdict::cannot_tell) return std::nullopt;
  for (const Verdict change : {Verdict::slower, Verdict::faster}) {
    if (time.indicated == change || (stalls && stalls->answer.indicated == change) ||
        (tail && tail->answer.indicated == change)) {
      return change;
    }
  }
  return std::nullopt;
}

std::size_t ResultComparison::indicated() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      measurements, [](const ComparedMeasurement& one) { return one.indicated().has_value(); }));
}

std::optional<CrossedFileSystems> crossed_file_systems(std::span<const Result> base,
                                                       std::span<const Result> fresh) {
  const std::vector<std::string> before = file_systems_of(base), after = file_systems_of(fresh);
  if (before.size() != 1 || after.size() != 1 || before == after) return std::nullopt;
  return CrossedFileSystems{before.front(), after.front()};
}

ResultComparison compare_results(std::span<const Result> base, std::span<const Result> fresh,
                                 const CompareOptions& options,
                                 std::span<const std::vector<Result>> earlier) {
  ResultComparison comparison;
  comparison.across = crossed_file_systems(base, fresh);
  const bool across = comparison.across.has_value();
  comparison.base_name = names_of(base, across ? comparison.across->base : "");
  comparison.fresh_name = names_of(fresh, across ? comparison.across->fresh : "");
  comparison.options = options;
  comparison.machine = fresh.front().host.machine;
  std::vector<PooledMeasurement> before = gather(base, across), after = gather(fresh, across);
  std::vector<std::vector<PooledMeasurement>> groups;
  for (const std::vector<Result>& group : earlier) groups.push_back(gather(group, across));
  const std::vector<MatchedSides> matched = match(before, after, groups, comparison);
  comparison.control = control_of(matched, across);
  std::vector<PendingComparison> rows;
  for (const MatchedSides& sides : matched) {
    if (!comparison.control.used) sides.forget_controls();
    rows.push_back(test(sides, comparison.control, options));
  }
  judge(rows, options);
  comparison.changes = changes_between(base, fresh);
  warn_of_incomplete(base, "base", comparison);
  warn_of_incomplete(fresh, "new", comparison);
  warn_of_missing(comparison.only_base, "base", comparison);
  warn_of_missing(comparison.only_fresh, "new", comparison);
  warn_of_changes(comparison);
  warn_of_control(comparison);
  warn_of_disturbance(rows, comparison);
  for (PendingComparison& tested : rows) comparison.measurements.push_back(std::move(tested.row));
  comparison.overall = overall_of(comparison);
  return comparison;
}

}  // namespace filereel
