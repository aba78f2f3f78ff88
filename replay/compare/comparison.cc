// The order of the steps matters. Matching comes first, for all measurements, because the choice of
// the control needs all pairs (control_of): it is used for all measurements or for none, and
// forget_controls() removes it before the tests. Then each measurement is tested on its own (test),
// which yields p values and no verdict. Only judge() decides, once, for all tests of all
// measurements: the error budget is shared, so a verdict depends on the number of other tests. A
// verdict must not be read before that. Warnings come last, as most of them need verdicts.
//
// If matching leaves out results, compare_results() matches the rest again: what only those results
// had in common is no difference of the others.
#include "replay/compare/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/changes.h"
#include "replay/compare/compared_figures.h"
#include "replay/compare/control.h"
#include "replay/compare/groups.h"
#include "replay/compare/same_work.h"
#include "replay/compare/sessions.h"
#include "replay/compare/tails.h"
#include "replay/compare/verdict.h"
#include "replay/results/file_systems.h"

namespace filereel {
namespace {

// Includes the file system if it is the difference.
std::string names_of(std::span<const Result> results, std::string_view file_system,
                     bool with_start = false) {
  std::vector<std::string> names;
  for (const Result& result : results) {
    std::string name = result.label.empty() ? result.started : result.label;
    if (with_start && !result.label.empty()) name += fmt::format(" ({})", result.started);
    if (!contains(names, name)) names.push_back(std::move(name));
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
  row.comparable = choice.obstacle.empty();
  row.undone = choice.undone;
  row.time.reason = choice.obstacle;
  row.base = side_of(base, choice.figure);
  row.fresh = side_of(fresh, choice.figure);
  if (row.comparable) {
    const SideFigures before = side_figures(base, choice.figure),
                      after = side_figures(fresh, choice.figure);
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
      std::ranges::count_if(results, [](const Result& result) { return !result.complete; });
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

// A slip in a script would otherwise always pass.
void warn_of_same_result(std::span<const Result> base, std::span<const Result> fresh,
                         ResultComparison& comparison) {
  if (comparison.across) return;
  for (const Result& result : base) {
    const auto same = [&](const Result& other) {
      return result.started == other.started && result.session == other.session &&
             result.label == other.label &&
             std::ranges::equal(result.volumes, other.volumes, {}, &VolumeDescription::target,
                                &VolumeDescription::target);
    };
    if (std::ranges::none_of(fresh, same)) continue;
    comparison.warnings.push_back({"same-result",
                                   fmt::format("both sides have the result of {}", result.started),
                                   "name two different results"});
    return;
  }
}

void warn_of_missing(const std::vector<MeasurementKey>& keys, std::string_view side,
                     ResultComparison& comparison) {
  if (keys.empty()) return;
  comparison.warnings.push_back(
      {"not-in-both",
       fmt::format("{} only in the {} result: {}{}",
                   counted(keys.size(), "measurement is", "measurements are"), side,
                   key_name(keys.front()), keys.size() > 1 ? " …" : ""),
       "run both with the same plan and options"});
}

bool on_share(std::span<const Result> results) {
  return std::ranges::any_of(results, [](const Result& result) {
    return !result.volumes.empty() && result.volumes.front().network.has_value();
  });
}

// Except NFS, shares have no call that makes all files durable.
void warn_of_durability(std::span<const Result> base, std::span<const Result> fresh,
                        ResultComparison& comparison) {
  const auto leaves_to_server = [](std::span<const Result> results) {
    return std::ranges::any_of(results, [](const Result& result) {
      return !result.volumes.empty() && result.volumes.front().network &&
             !result.volumes.front().network->protocol.starts_with("nfs");
    });
  };
  const bool any = std::ranges::any_of(comparison.measurements, [](const auto& one) {
    return one.comparable && one.figure == Figure::durable;
  });
  if (!any || leaves_to_server(base) == leaves_to_server(fresh)) return;
  comparison.warnings.push_back(
      {"durability-differs",
       "times until durable end when the server has the data on one side, and when the drive has "
       "it on the other",
       "compare what only reads, or judge with that in mind"});
}

// `by_storage`: a share and a drive are compared, which differ in everything below the files.
void warn_of_changes(bool by_storage, ResultComparison& comparison) {
  // The compared change: the firmware, otherwise the file system, otherwise the drive. If all three
  // are the same, it is the only other change, and of several any may be it.
  ChangeKind judged = ChangeKind::other;
  for (const Change& change : comparison.changes) judged = std::min(judged, change.kind);
  std::vector<std::string_view> others;
  for (const Change& change : comparison.changes) {
    if (by_storage && change.what.ends_with("(near)")) continue;
    if (judged == ChangeKind::other || change.kind != judged) others.push_back(change.what);
  }
  if (others.empty() || (judged == ChangeKind::other && others.size() == 1)) return;
  const std::string which =
      judged == ChangeKind::other
          ? "changed: each may be the cause"
          : fmt::format("also changed: the {} may not be the cause", change_kind_name(judged));
  comparison.warnings.push_back({"something-else-changed",
                                 fmt::format("{} {}", fmt::join(others, ", "), which),
                                 "repeat one of the runs so that only one thing differs"});
}

void warn_of_disturbance(std::span<const PendingComparison> rows, ResultComparison& comparison) {
  const auto is_disturbed = [](const PendingComparison& row) { return row.disturbed.has_value(); };
  const auto disturbed = std::ranges::count_if(rows, is_disturbed);
  if (disturbed == 0) return;
  const auto first = std::ranges::find_if(rows, is_disturbed);
  comparison.warnings.push_back(
      {"unsteady",
       fmt::format("{} may be due to drift or to other programs (first: {} of {})",
                   counted_of(disturbed, rows.size(), "difference"), aspect_name(*first->disturbed),
                   key_name(first->row.key)),
       "let the drive and the machine settle, and measure both alternately (filereel run "
       "--against)"});
}

// The sessions of a side, and the states of machine and drive that they are (sessions.h).
struct SessionCount {
  std::size_t sessions = 0, states = 0;
};

SessionCount sessions_of(const PooledMeasurement& side) {
  std::set<const Result*> results;
  for (const SampleSource& origin : side.origins) results.insert(origin.result);
  const std::vector<double> begins = begins_of(side);
  return {results.size(), figures_by_state(begins, begins).size()};
}

void warn_of_close_sessions(std::span<const MatchedSides> matched, ResultComparison& comparison) {
  for (const MatchedSides& sides : matched) {
    if (took_turns(*sides.base, *sides.fresh)) continue;
    const SessionCount base = sessions_of(*sides.base), fresh = sessions_of(*sides.fresh);
    if (base.states == base.sessions && fresh.states == fresh.sessions) continue;
    comparison.warnings.push_back(
        {"close-sessions",
         fmt::format("{} of the base count as {}, and {} of the new side as {}: those that begin "
                     "within {} of each other share the state of machine and drive",
                     counted(base.sessions, "session"), base.states, fresh.sessions, fresh.states,
                     format_duration(kSameState)),
         "leave more time between sessions (--every)"});
    return;
  }
}

void warn_of_sessions(ResultComparison& comparison) {
  const auto is_beyond_proof = [](const ComparedMeasurement& compared) {
    return compared.time.p && compared.verdict == Verdict::cannot_tell && !compared.more_runs &&
           compared.time.basis == Basis::assumption && !compared.time.provable_change();
  };
  const auto count = std::ranges::count_if(comparison.measurements, is_beyond_proof);
  if (count == 0) return;
  comparison.warnings.push_back(
      few_sessions(fmt::format("no change is provable in {}",
                               counted_of(count, comparison.measurements.size(), "measurement"))));
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
  for (PooledMeasurement& pooled : list) map.emplace(pooled.key, &pooled);
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
  for (PooledMeasurement& pooled : before) {
    PooledMeasurement* const other = find(after_by_key, pooled.key);
    if (!other) {
      comparison.only_base.push_back(pooled.key);
      continue;
    }
    MatchedSides& sides = matched.emplace_back(MatchedSides{.base = &pooled, .fresh = other});
    sides.choice = choose_figure(pooled, *other);
    for (const ByKey& group : groups) {
      PooledMeasurement* const found = find(group, pooled.key);
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
  for (const MatchedSides& sides : matched) {
    if (sides.choice.obstacle.empty())
      pairs.push_back({sides.base, sides.fresh, sides.choice.figure});
  }
  ControlUse use = control_between(pairs);
  if (across && use.used) {
    use.used = false;
    use.obstacle = "the file systems differ, and so do those of the control";
  }
  return use;
}

}  // namespace

double ControlUse::change() const {
  return machine ? std::exp(machine->typical) : 1;
}

bool ControlUse::changed() const {
  constexpr double kBeyondChance = 3;  // standard errors
  return machine && std::abs(machine->typical) > kBeyondChance * machine->error;
}

std::optional<double> AspectResult::provable_change() const {
  if (!provable || verdict == Verdict::slower || verdict == Verdict::faster) return std::nullopt;
  const bool only_shorter = ratio_interval && ratio_interval->high < 1;
  return only_shorter ? 1 / (1 + *provable) - 1 : *provable;
}

bool ResultComparison::undecided() const {
  return count(Verdict::cannot_tell) > 0 || !only_base.empty() || !only_fresh.empty() ||
         measurements.empty();
}

bool ResultComparison::comparable() const {
  return std::ranges::any_of(measurements, &ComparedMeasurement::comparable);
}

std::size_t ResultComparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count(measurements, verdict, &ComparedMeasurement::verdict));
}

std::optional<std::uint32_t> ComparedMeasurement::runs_needed() const {
  if (!more_runs) return std::nullopt;
  const auto [fewest, most] = std::minmax({base.samples, fresh.samples});
  return *more_runs + (time.ratio_interval ? most : fewest);
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

Aspect ComparedMeasurement::indicating() const {
  const std::optional<Verdict> change = indicated();
  if (!change || time.indicated == change) return Aspect::time;
  return stalls && stalls->answer.indicated == change ? Aspect::stalls : Aspect::tail;
}

const std::string& ComparedMeasurement::reason() const {
  return answer_of(*this, indicating()).reason;
}

std::size_t ResultComparison::indicated() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      measurements,
      [](const ComparedMeasurement& compared) { return compared.indicated().has_value(); }));
}

std::optional<CrossedFileSystems> crossed_file_systems(std::span<const Result> base,
                                                       std::span<const Result> fresh) {
  const std::vector<std::string> before = file_systems_of(base), after = file_systems_of(fresh);
  if (before.size() != 1 || after.size() != 1 || before == after) return std::nullopt;
  return CrossedFileSystems{before.front(), after.front()};
}

namespace {

// `warnings`: of what `matching` leaves out.
ResultComparison compare_matching(std::span<const Result> base, std::span<const Result> fresh,
                                  const Matching& matching, const CompareOptions& options,
                                  std::span<const std::vector<Result>> earlier,
                                  std::vector<Warning> warnings) {
  ResultComparison comparison;
  comparison.warnings = std::move(warnings);
  comparison.across = crossed_file_systems(base, fresh);
  const bool across = comparison.across.has_value();
  const std::string_view before_on = across ? std::string_view(comparison.across->base) : "",
                         after_on = across ? std::string_view(comparison.across->fresh) : "";
  const bool same_labels = names_of(base, before_on) == names_of(fresh, after_on);
  comparison.base_name = names_of(base, before_on, same_labels);
  comparison.fresh_name = names_of(fresh, after_on, same_labels);
  comparison.options = options;
  comparison.machine = fresh.front().host.machine;
  std::vector<PooledMeasurement> before = gather(base, matching, 0),
                                 after = gather(fresh, matching, 1);
  std::vector<std::vector<PooledMeasurement>> groups;
  for (const std::vector<Result>& group : earlier) groups.push_back(gather(group, matching));
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
  warn_of_same_result(base, fresh, comparison);
  std::ranges::move(work_warnings(std::array{base, fresh}),
                    std::back_inserter(comparison.warnings));
  warn_of_missing(comparison.only_base, "base", comparison);
  warn_of_missing(comparison.only_fresh, "new", comparison);
  warn_of_changes(on_share(base) != on_share(fresh), comparison);
  warn_of_control(comparison);
  warn_of_disturbance(rows, comparison);
  for (PendingComparison& tested : rows) comparison.measurements.push_back(std::move(tested.row));
  comparison.overall = overall_of(comparison);
  warn_of_durability(base, fresh, comparison);
  warn_of_close_sessions(matched, comparison);
  warn_of_sessions(comparison);
  return comparison;
}

}  // namespace

ResultComparison compare_results(std::span<const Result> base, std::span<const Result> fresh,
                                 const CompareOptions& options,
                                 std::span<const std::vector<Result>> earlier) {
  const std::array<std::string, 2> sides = {"the base", "the new side"};
  const auto matching_of = [](std::span<const Result> before, std::span<const Result> after) {
    const std::array<std::span<const Result>, 2> both = {before, after};
    return Matching(both, crossed_file_systems(before, after).has_value());
  };
  const Matching matching = matching_of(base, fresh);
  std::vector<Warning> warnings = matching.warnings(sides);
  if (!matching.leaves_out_results()) {
    return compare_matching(base, fresh, matching, options, earlier, std::move(warnings));
  }
  // What only results that are left out have in common is no difference of the others.
  const std::vector<Result> before = matching.used(0), after = matching.used(1);
  return compare_matching(before, after, matching_of(before, after), options, earlier,
                          std::move(warnings));
}

}  // namespace filereel
