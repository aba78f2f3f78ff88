#include "replay/compare/ranking.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/compare/control.h"
#include "replay/compare/same_work.h"
#include "replay/compare/sessions.h"
#include "replay/compare/verdict.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

// A pair of entries of a measurement, by index.
struct RankedPair {
  std::size_t measurement = 0, first = 0, second = 0;
};

constexpr std::array<Figure, 4> kByWidth = {Figure::in_calls, Figure::elapsed, Figure::durable,
                                            Figure::per_operation};

// All entries are compared by the same figure. If one pair is comparable only by time per
// operation, all use that; if one has written, all are compared until durable.
Figure wider(Figure one, Figure other) {
  const auto width = [](Figure figure) {
    return std::ranges::find(kByWidth, figure) - kByWidth.begin();
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

bool did_same_work(const PooledMeasurement& pooled, const PooledMeasurement& other) {
  return choose_figure(pooled, other).obstacle.empty();
}

// The first of those that did the same work as most others; null without samples. So the order of
// the entries does not matter, unless as many did one work as another.
const PooledMeasurement* usual_work(const MatchedMeasurement& matched) {
  const PooledMeasurement* usual = nullptr;
  std::ptrdiff_t most = 0;
  for (const PooledMeasurement* pooled : matched.of) {
    if (!pooled || pooled->samples.empty()) continue;
    const auto alike = std::ranges::count_if(matched.of, [&](const PooledMeasurement* other) {
      return other && !other->samples.empty() && did_same_work(*pooled, *other);
    });
    if (alike <= most) continue;
    most = alike;
    usual = pooled;
  }
  return usual;
}

// Fills the entries with everything that needs no test.
RankedMeasurement ranked(const MatchedMeasurement& matched) {
  RankedMeasurement one{.key = matched.key};
  const PooledMeasurement* const usual = usual_work(matched);
  bool is_first = true;
  for (std::size_t group = 0; group < matched.of.size(); ++group) {
    const PooledMeasurement* gathered = matched.of[group];
    if (!gathered) continue;
    RankedEntry& entry = one.entries.emplace_back(RankedEntry{.group = group});
    if (gathered->samples.empty()) {
      entry.reason = why_no_samples(*gathered);
      entry.comparable = false;
      continue;
    }
    const FigureChoice choice = choose_figure(*usual, *gathered);
    entry.reason = choice.obstacle;
    entry.comparable = entry.reason.empty();
    if (!entry.comparable) continue;
    one.figure = is_first ? choice.figure : wider(one.figure, choice.figure);
    is_first = false;
  }
  for (RankedEntry& entry : one.entries) {
    const PooledMeasurement& gathered = *matched.of[entry.group];
    entry.side = side_of(gathered, one.figure);
  }
  return one;
}

// A pair for the joint decision.
PendingComparison tested(const ControlledPair& sides, const ControlUse& control,
                         const RankedMeasurement& ranked, const RankedPair& pair,
                         const CompareOptions& options) {
  const PooledMeasurement &first = *sides.base, &second = *sides.fresh;
  SideFigures base = side_figures(first, sides.figure), fresh = side_figures(second, sides.figure);
  if (!control.used) {
    base.control.clear();
    fresh.control.clear();
  }
  PendingComparison pending;
  pending.row.key = ranked.key;
  pending.row.figure = ranked.figure;
  pending.row.base = ranked.entries[pair.first].side;
  pending.row.fresh = ranked.entries[pair.second].side;
  AspectTest& time = pending.questions.emplace_back(
      ask(Aspect::time, base, fresh, {}, control.machine ? &*control.machine : nullptr));
  time.least = options.threshold;
  pending.base_busy = busy_share(first);
  pending.fresh_busy = busy_share(second);
  return pending;
}

// Notes what a pair of entries says.
void note(const PendingComparison& test, const RankedPair& pair, RankedMeasurement& ranked) {
  RankedEntry &first = ranked.entries[pair.first], &second = ranked.entries[pair.second];
  const ComparedMeasurement& row = test.row;
  if (row.verdict == Verdict::slower) second.faster.push_back(first.group);
  if (row.verdict == Verdict::faster) first.faster.push_back(second.group);
  if (row.verdict != Verdict::same) ranked.same = false;
  const std::optional<Verdict> indicated = row.indicated();
  if (indicated == Verdict::slower) second.indicated.push_back(first.group);
  if (indicated == Verdict::faster) first.indicated.push_back(second.group);
  const bool too_few = !row.time.ratio_interval;
  if (row.more_runs && (indicated || too_few)) {
    ranked.runs_needed = std::max(ranked.runs_needed.value_or(0), *row.runs_needed());
  }
}

void give_ranks(RankedMeasurement& one) {
  if (!one.has_ranks()) return;
  for (RankedEntry& entry : one.entries) {
    if (!entry.comparable) continue;
    if (entry.side.samples < kLeastRuns) {
      entry.reason =
          fmt::format("{} of at least {}", entry.side.samples, counted(kLeastRuns, "run"));
    } else {
      entry.rank = static_cast<std::uint32_t>(entry.faster.size()) + 1;
    }
  }
  const auto ranked = std::ranges::count_if(one.entries, [](const auto& any) { return any.rank; });
  for (RankedEntry& entry : one.entries) {
    if (entry.rank == 0) continue;
    const auto slower = std::ranges::count_if(
        one.entries, [&](const RankedEntry& other) { return contains(other.faster, entry.group); });
    entry.last_rank = one.same ? 1 : static_cast<std::uint32_t>(ranked - slower);
  }
}

void sort_entries(RankedMeasurement& ranked) {
  double fastest = 0;
  for (const RankedEntry& entry : ranked.entries) {
    const bool counts = entry.comparable && entry.side.median > 0;
    if (counts && (fastest == 0 || entry.side.median < fastest)) fastest = entry.side.median;
  }
  for (RankedEntry& entry : ranked.entries) {
    if (entry.comparable && fastest > 0) entry.ratio = entry.side.median / fastest;
  }
  std::ranges::stable_sort(ranked.entries, {}, [](const RankedEntry& entry) {
    return std::tuple(!entry.comparable, entry.rank == 0, entry.rank, entry.last_rank,
                      entry.side.median);
  });
}

// Lists what differs, and warns of differences other than drives, firmware and file systems. If
// these are the same for all, a single difference is what is ranked.
void note_differences(std::span<const ResultGroup> groups, Ranking& ranking) {
  std::vector<std::span<const Result>> results;
  for (const ResultGroup& group : groups) results.emplace_back(group.results);
  ranking.differences = differences_among(results);
  std::ranges::move(work_warnings(results), std::back_inserter(ranking.warnings));
  std::vector<std::string> others, ranked;
  for (const Difference& difference : ranking.differences) {
    const bool is_other = difference.kind == ChangeKind::other;
    std::string text =
        is_other ? difference.what : fmt::format("the {}", change_kind_name(difference.kind));
    std::vector<std::string>& to = is_other ? others : ranked;
    if (!contains(to, text)) to.push_back(std::move(text));
  }
  if (others.empty() || (ranked.empty() && others.size() == 1)) return;
  const std::string apart =
      ranked.empty() ? "" : fmt::format("apart from {}, ", fmt::join(ranked, " and "));
  ranking.warnings.push_back(
      {"something-else-changed",
       apart + (others.size() == 1 ? others.front() + " differs, and may be the cause"
                                   : counted(others.size(), "property", "properties") +
                                         " differ: each may be the cause"),
       "make these alike, or judge with them in mind"});
}

// Of each group, with the first reason.
void warn_of_unranked(Ranking& ranking) {
  const std::size_t all = ranking.measurements.size();
  for (std::size_t group = 0; group < ranking.names.size(); ++group) {
    std::size_t count = 0;
    std::string reason;
    bool several = false;
    for (const RankedMeasurement& ranked : ranking.measurements) {
      for (const RankedEntry& entry : ranked.entries) {
        if (entry.group != group || entry.comparable) continue;
        if (++count == 1) reason = entry.reason;
        several = several || entry.reason != reason;
      }
    }
    if (count == 0) continue;
    ranking.warnings.push_back(
        {"not-ranked",
         fmt::format("{} is not ranked in {}: {}{}", ranking.names[group],
                     counted_of(count, all, "measurement"), several ? "first: " : "", reason),
         "for a rank, let all do the same work in the same way"});
  }
}

void warn_of_state(std::span<const ResultGroup> groups, Ranking& ranking) {
  std::size_t incomplete = 0;
  for (const ResultGroup& group : groups) {
    incomplete += static_cast<std::size_t>(std::ranges::count_if(
        group.results, [](const Result& result) { return !result.complete; }));
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
                     key_name(ranking.left_out.front()), ranking.left_out.size() > 1 ? " …" : ""),
         "run all with the same plan and options"});
  }
}

void warn_of_tests(std::span<const PendingComparison> pairs, Ranking& ranking) {
  const auto is_disturbed = [](const PendingComparison& row) { return row.disturbed.has_value(); };
  const auto disturbed = std::ranges::count_if(pairs, is_disturbed);
  if (disturbed > 0) {
    ranking.warnings.push_back(
        {"unsteady",
         fmt::format("{} may be due to drift or to other programs (first: {})",
                     counted_of(disturbed, pairs.size(), "difference"),
                     key_name(std::ranges::find_if(pairs, is_disturbed)->row.key)),
         "let the drives and the machine settle"});
  }
}

// Whether the medians of two entries differ by more than the threshold.
bool differ(const RankedMeasurement& ranked, double threshold) {
  return std::ranges::any_of(ranked.entries, [&](const RankedEntry& entry) {
    return entry.comparable && entry.ratio > 1 + threshold;
  });
}

// `assumed`: the measurements whose spread between sessions is assumed.
void warn_of_missing_ranks(const std::set<std::size_t>& assumed, Ranking& ranking) {
  std::uint32_t runs = 0;
  for (std::size_t i = 0; i < ranking.measurements.size(); ++i) {
    const RankedMeasurement& ranked = ranking.measurements[i];
    if (ranked.has_ranks()) continue;
    runs = std::max(
        {runs, ranked.runs_needed.value_or(0), static_cast<std::uint32_t>(kLeastForInterval)});
    if (ranked.runs_needed) {
      ++ranking.need_runs;
    } else if (ranked.indicates() ||
               (assumed.contains(i) && differ(ranked, ranking.options.threshold))) {
      ++ranking.need_sessions;
    }
  }
  const std::size_t all = ranking.measurements.size();
  if (ranking.need_runs > 0) {
    ranking.warnings.push_back({std::string(kFewRuns),
                                fmt::format("too few runs for a ranking in {}",
                                            counted_of(ranking.need_runs, all, "measurement")),
                                fmt::format("measure with --runs {} or more", runs)});
  }
  if (ranking.need_sessions > 0) {
    ranking.warnings.push_back(few_sessions(
        fmt::format("no ranking in {}", counted_of(ranking.need_sessions, all, "measurement"))));
  }
}

}  // namespace

bool RankedMeasurement::comparable() const {
  return std::ranges::count(entries, true, &RankedEntry::comparable) > 1;
}

bool RankedMeasurement::indicates() const {
  return std::ranges::any_of(entries,
                             [](const RankedEntry& entry) { return !entry.indicated.empty(); });
}

const RankedEntry* RankedMeasurement::fastest() const {
  const auto found = std::ranges::find_if(entries, [&](const RankedEntry& entry) {
    return std::ranges::all_of(entries, [&](const RankedEntry& other) {
      return &other == &entry || !other.comparable || contains(other.faster, entry.group);
    });
  });
  return comparable() && found != entries.end() && found->comparable ? &*found : nullptr;
}

bool RankedMeasurement::decided() const {
  return std::ranges::any_of(entries,
                             [](const RankedEntry& entry) { return !entry.faster.empty(); });
}

std::string rank_text(std::uint32_t first, std::uint32_t last) {
  if (first == 0) return "-";
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::size_t Ranking::firsts(std::size_t group) const {
  return static_cast<std::size_t>(std::ranges::count_if(measurements, [&](const auto& one) {
    const RankedEntry* fastest = one.fastest();
    return fastest && fastest->group == group;
  }));
}

bool Ranking::comparable() const {
  return std::ranges::any_of(measurements, &RankedMeasurement::comparable);
}

Ranking rank_groups(std::span<const ResultGroup> groups, const CompareOptions& options) {
  Ranking ranking{.names = {}, .options = options};
  for (const ResultGroup& group : groups) ranking.names.push_back(group.name);
  const MatchedGroups matched(groups);
  std::vector<RankedPair> pairs;
  std::vector<ControlledPair> sides;  // of the pairs
  using Groups = std::pair<std::size_t, std::size_t>;
  std::map<Groups, std::vector<ControlledPair>> by_groups;
  for (const MatchedMeasurement& measurement : matched.measurements()) {
    if (std::ranges::count(measurement.of, nullptr) + 1 >= std::ssize(measurement.of)) {
      ranking.left_out.push_back(measurement.key);
      continue;
    }
    const RankedMeasurement& next = ranking.measurements.emplace_back(ranked(measurement));
    for (std::size_t second = 1; second < next.entries.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (!next.entries[first].comparable || !next.entries[second].comparable) continue;
        pairs.push_back({ranking.measurements.size() - 1, first, second});
        const Groups groups_of_pair(next.entries[first].group, next.entries[second].group);
        sides.push_back({measurement.of[groups_of_pair.first],
                         measurement.of[groups_of_pair.second], next.figure});
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
  for (RankedMeasurement& one : ranking.measurements) one.same = one.comparable();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    note(tests[i], pairs[i], ranking.measurements[pairs[i].measurement]);
  }
  std::ranges::for_each(ranking.measurements, give_ranks);
  std::ranges::for_each(ranking.measurements, sort_entries);
  std::vector<Basis> bases;
  for (const PendingComparison& test : tests) bases.push_back(test.row.time.basis);
  ranking.level = level_text(bases, groups.front().results.front().host.machine);
  // What only results that are left out have is no difference of the others.
  std::vector<ResultGroup> used;
  if (matched.leaves_out_results()) used = matched.used();
  const std::span<const ResultGroup> ranked_groups = used.empty() ? groups : used;
  warn_of_state(ranked_groups, ranking);
  warn_of_unranked(ranking);
  std::ranges::move(matched.warnings(), std::back_inserter(ranking.warnings));
  note_differences(ranked_groups, ranking);
  warn_of_tests(tests, ranking);
  std::set<std::size_t> assumed;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (tests[i].row.time.basis == Basis::assumption) assumed.insert(pairs[i].measurement);
  }
  warn_of_missing_ranks(assumed, ranking);
  return ranking;
}

}  // namespace filereel
