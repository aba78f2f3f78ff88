#include "replay/compare/ranking.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "replay/compare/changes.h"
#include "replay/compare/control.h"
#include "replay/compare/verdict.h"

namespace filereel {
namespace {

// A pair of entries of a measurement, by index.
struct RankedPair {
  std::size_t measurement = 0, first = 0, second = 0;
};

// All entries are compared by the same figure. If one pair is comparable only by time per
// operation, all use that.
Figure wider(Figure one, Figure other) {
  const auto width = [](Figure figure) {
    return figure == Figure::per_operation ? 2 : figure == Figure::elapsed ? 1 : 0;
  };
  return width(other) > width(one) ? other : one;
}

std::string why_no_samples(const PooledMeasurement& gathered) {
  if (!gathered.incomplete.empty()) {
    return fmt::format("the work was not done: {}", gathered.incomplete);
  }
  if (gathered.no_data > 0) return "the copies moved no data: they share blocks";
  return gathered.failed > 0 ? "no run succeeded" : "no runs";
}

// Fills the entries with everything that needs no test. The first entry with samples defines the
// work that the others must match.
RankedMeasurement ranked(const MatchedMeasurement& matched) {
  RankedMeasurement one{.key = matched.key};
  const PooledMeasurement* first = nullptr;
  for (std::size_t group = 0; group < matched.of.size(); ++group) {
    const PooledMeasurement* gathered = matched.of[group];
    if (!gathered) continue;
    RankedEntry& entry = one.entries.emplace_back(RankedEntry{.group = group});
    if (gathered->samples.empty()) {
      entry.reason = why_no_samples(*gathered);
      continue;
    }
    const FigureChoice choice = choose_figure(first ? *first : *gathered, *gathered);
    entry.reason = choice.obstacle;
    if (!entry.reason.empty()) continue;
    one.figure = first ? wider(one.figure, choice.figure) : choice.figure;
    if (!first) first = gathered;
  }
  for (RankedEntry& entry : one.entries) {
    const PooledMeasurement& gathered = *matched.of[entry.group];
    entry.side = side_of(gathered, figures_of(gathered, one.figure));
    if (entry.reason.empty()) entry.rank = 1;
  }
  return one;
}

// A pair for the joint decision.
PendingComparison tested(const ControlledPair& sides, const ControlUse& control,
                         const RankedMeasurement& one, const RankedPair& pair,
                         const CompareOptions& options) {
  const PooledMeasurement &first = *sides.base, &second = *sides.fresh;
  SideFigures base = side_figures(first, sides.figure), fresh = side_figures(second, sides.figure);
  if (!control.used) {
    base.control.clear();
    fresh.control.clear();
  }
  PendingComparison pending;
  pending.row.key = one.key;
  pending.row.figure = one.figure;
  pending.row.base = one.entries[pair.first].side;
  pending.row.fresh = one.entries[pair.second].side;
  AspectTest& time = pending.questions.emplace_back(
      ask(Aspect::time, base, fresh, {}, control.machine ? &*control.machine : nullptr));
  time.least = options.threshold;
  pending.base_busy = busy_share(first);
  pending.fresh_busy = busy_share(second);
  return pending;
}

void sort_entries(RankedMeasurement& one) {
  double fastest = 0;
  for (const RankedEntry& entry : one.entries) {
    const bool counts = entry.rank > 0 && entry.side.median > 0;
    if (counts && (fastest == 0 || entry.side.median < fastest)) fastest = entry.side.median;
  }
  for (RankedEntry& entry : one.entries) {
    if (entry.rank > 0 && fastest > 0) entry.ratio = entry.side.median / fastest;
  }
  std::ranges::stable_sort(one.entries, {}, [](const RankedEntry& entry) {
    return std::tuple(entry.rank == 0, entry.rank, entry.side.median);
  });
}

// Warns of differences between the groups other than drives, firmware and file systems. If these
// are the same for all, a single difference is what is ranked.
void warn_of_other_changes(std::span<const ResultGroup> groups, Ranking& ranking) {
  std::vector<std::string> what, ranked;
  const auto add = [](std::string text, std::vector<std::string>& to) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
  };
  for (const ResultGroup& group : groups.subspan(1)) {
    for (Change& change : changes_between(groups.front().results, group.results)) {
      if (change.kind == ChangeKind::other) {
        add(std::move(change.what), what);
      } else {
        add(fmt::format("the {}", change_kind_name(change.kind)), ranked);
      }
    }
  }
  if (what.empty() || (ranked.empty() && what.size() == 1)) return;
  const std::string which = ranked.empty()
                                ? "each may be the cause"
                                : fmt::format("{} may not be the cause", fmt::join(ranked, " or "));
  ranking.warnings.push_back(
      {"something-else-changed",
       fmt::format("further differences: {}; {}", fmt::join(what, ", "), which),
       "measure all on one machine with the same plan and options"});
}

void warn_of_state(std::span<const ResultGroup> groups, Ranking& ranking) {
  std::size_t incomplete = 0;
  for (const ResultGroup& group : groups) {
    incomplete += static_cast<std::size_t>(
        std::ranges::count_if(group.results, [](const Result& one) { return !one.complete; }));
  }
  if (incomplete > 0) {
    ranking.complete = false;
    ranking.warnings.push_back(
        {"incomplete",
         fmt::format("{} of the results {} incomplete", incomplete,
                     agreeing(static_cast<std::size_t>(incomplete), "is", "are")),
         "repeat the runs until they complete"});
  }
  if (!ranking.left_out.empty()) {
    ranking.warnings.push_back(
        {"not-in-both",
         fmt::format("{} of the measurements {} in only one entry: {}{}", ranking.left_out.size(),
                     agreeing(ranking.left_out.size(), "is", "are"),
                     key_text(ranking.left_out.front()), ranking.left_out.size() > 1 ? " …" : ""),
         "run all with the same plan and options"});
  }
}

void warn_of_tests(std::span<const PendingComparison> pairs, Ranking& ranking) {
  const auto disturbed = std::ranges::count_if(pairs, &PendingComparison::disturbed);
  if (disturbed > 0) {
    ranking.warnings.push_back(
        {"unsteady",
         fmt::format("{} may be due to drift or to other programs (first: {})",
                     counted_of(disturbed, pairs.size(), "difference"),
                     key_text(std::ranges::find_if(pairs, &PendingComparison::disturbed)->row.key)),
         "let the drives and the machine settle"});
  }
  const auto tells = [](const PendingComparison& one) {
    return one.questions.front().evidence.interval.has_value();
  };
  if (pairs.empty() || std::ranges::any_of(pairs, tells)) return;
  ranking.warnings.push_back(
      {std::string(kFewRuns),
       fmt::format("too few runs to show any difference among {}", counted(pairs.size(), "pair")),
       fmt::format("measure with --runs {} or more", kLeastRuns)});
}

}  // namespace

bool RankedMeasurement::decided() const {
  return std::ranges::any_of(entries, [](const RankedEntry& entry) { return entry.rank > 1; });
}

std::size_t Ranking::firsts(std::size_t group) const {
  return static_cast<std::size_t>(std::ranges::count_if(measurements, [&](const auto& one) {
    return std::ranges::any_of(one.entries, [&](const RankedEntry& entry) {
      return entry.group == group && entry.rank == 1;
    });
  }));
}

Ranking rank_groups(std::span<const ResultGroup> groups, const CompareOptions& options) {
  Ranking ranking{.names = {}, .options = options};
  for (const ResultGroup& group : groups) ranking.names.push_back(group.name);
  const MatchedGroups matched(groups);
  std::vector<RankedPair> pairs;
  std::vector<ControlledPair> sides;  // of the pairs
  using Groups = std::pair<std::size_t, std::size_t>;
  std::map<Groups, std::vector<ControlledPair>> by_groups;
  for (const MatchedMeasurement& one : matched.measurements()) {
    if (std::ranges::count(one.of, nullptr) + 1 >= std::ssize(one.of)) {
      ranking.left_out.push_back(one.key);
      continue;
    }
    const RankedMeasurement& next = ranking.measurements.emplace_back(ranked(one));
    for (std::size_t second = 1; second < next.entries.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (next.entries[first].rank == 0 || next.entries[second].rank == 0) continue;
        pairs.push_back({ranking.measurements.size() - 1, first, second});
        const Groups groups_of_pair(next.entries[first].group, next.entries[second].group);
        sides.push_back({one.of[groups_of_pair.first], one.of[groups_of_pair.second], next.figure});
        by_groups[groups_of_pair].push_back(sides.back());
      }
    }
  }
  std::map<Groups, ControlUse> controls;
  for (const auto& [of, list] : by_groups) {
    controls[of] = matched.across() ? ControlUse{} : control_between(list);
  }
  std::vector<PendingComparison> tests;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const RankedMeasurement& one = ranking.measurements[pairs[i].measurement];
    const Groups of(one.entries[pairs[i].first].group, one.entries[pairs[i].second].group);
    tests.push_back(tested(sides[i], controls[of], one, pairs[i], options));
  }
  // p is two-sided, and either direction would be a false order.
  CompareOptions of_pairs = options;
  of_pairs.false_alarms = options.false_alarms / 2;
  judge(tests, of_pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::vector<RankedEntry>& entries = ranking.measurements[pairs[i].measurement].entries;
    if (tests[i].row.verdict == Verdict::slower) ++entries[pairs[i].second].rank;
    if (tests[i].row.verdict == Verdict::faster) ++entries[pairs[i].first].rank;
  }
  std::ranges::for_each(ranking.measurements, sort_entries);
  std::vector<Basis> bases;
  for (const PendingComparison& one : tests) bases.push_back(one.row.time.basis);
  ranking.level = level_text(bases, groups.front().results.front().host.machine);
  warn_of_state(groups, ranking);
  warn_of_other_changes(groups, ranking);
  warn_of_tests(tests, ranking);
  return ranking;
}

}  // namespace filereel
