#include "replay/report/ranking_data.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/comparison_formats.h"
#include "replay/compare/comparison_text.h"
#include "replay/compare/groups.h"
#include "replay/json.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/file_systems.h"

namespace filereel {
namespace {

using Names = std::vector<std::string>;

// A column each, or a series each (share_file_systems), in order.
std::vector<ResultGroup> groups_of(const ReportColumns& columns, const Overview& overview) {
  const std::vector<std::string> names = result_names(columns.pooled());
  std::vector<ResultGroup> whole, groups;
  for (std::size_t i = 0; i < columns.pooled().size(); ++i) {
    const std::span<const Result> sessions = columns.sessions(i);
    whole.push_back({names[i], {sessions.begin(), sessions.end()}, {columns.pooled()[i].file}});
  }
  if (share_file_systems(whole)) return whole;
  for (std::size_t i = 0; i < columns.pooled().size(); ++i) {
    const std::span<const Result> sessions = columns.sessions(i);
    for (const std::string& file_system : file_systems_of(sessions)) {
      groups.push_back({overview.series.at(groups.size()).name,
                        all_on(sessions, file_system),
                        {columns.pooled()[i].file}});
    }
  }
  return groups;
}

// The series of a group, in a measurement on a file system.
std::size_t series_of(std::size_t group, const std::string& file_system, const Overview& overview,
                      std::size_t groups) {
  if (groups == overview.series.size()) return group;
  for (std::size_t i = 0; i < overview.series.size(); ++i) {
    const Series& series = overview.series[i];
    if (series.result == group && (file_system.empty() || series.file_system == file_system))
      return i;
  }
  return 0;
}

// The first group of a result marked as reference.
std::optional<std::size_t> reference_of(std::span<const ReportedResult> results,
                                        const Overview& overview, std::size_t groups) {
  for (const Series& series : overview.series) {
    if (!results[series.result].reference) continue;
    if (groups != overview.series.size()) return series.result;
    return static_cast<std::size_t>(&series - overview.series.data());
  }
  return std::nullopt;
}

bool has_written(const OverviewRow& row) {
  return std::ranges::any_of(row.cells, [](const Measurement* cell) {
    return cell != nullptr && filereel::has_written(*cell);
  });
}

// Sets those of the series that the measurement ranks.
template <class SeriesOf>
void add_standings(const RankedMeasurement& ranked, SeriesOf series, std::vector<Standing>& row) {
  const auto others = std::ranges::count(ranked.entries, true, &RankedEntry::comparable) - 1;
  for (const RankedEntry& entry : ranked.entries) {
    const auto indicated = std::ranges::count_if(ranked.entries, [&](const RankedEntry& other) {
      return contains(other.indicated, entry.group) || contains(other.faster, entry.group);
    });
    if (ranked.decided() && entry.rank == 1 && entry.indicated.empty()) {
      row[series(entry.group)] = Standing::best;
    } else if (!ranked.decided() && others > 0 && indicated == others) {
      row[series(entry.group)] = Standing::indicated;
    }
  }
}

// "ext4 is proven fastest in 5 of 9 measurements, xfs in 1"; "" if none is.
std::string fastest_text(const Standings& standings) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < standings.fastest.size(); ++i) {
    if (standings.fastest[i] > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return standings.fastest[i]; });
  std::vector<std::string> parts;
  for (const std::size_t i : order) {
    const std::string& name = standings.ranking.names[i];
    parts.push_back(parts.empty() ? fmt::format("{} is proven fastest in {}", name,
                                                counted_of(standings.fastest[i], standings.compared,
                                                           "measurement"))
                                  : fmt::format("{} in {}", name, standings.fastest[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string order_text(const Standings& standings) {
  std::string text = fastest_text(standings);
  if (!text.empty()) return text;
  if (standings.decided > 0) {
    return fmt::format("None is proven fastest; differences are proven in {}",
                       counted_of(standings.decided, standings.compared, "measurement"));
  }
  text = standings.advice.empty() ? "No difference in speed is proven"
                                  : "Too few repetitions to prove a difference in speed";
  if (standings.indicated > 0) {
    text += fmt::format("; indicated in {}",
                        counted_of(standings.indicated, standings.compared, "measurement"));
  }
  return standings.advice.empty() ? text : fmt::format("{}: {}", text, standings.advice);
}

// " with 123 MB/s until durable (110–130)", " with 133 (120–140), ext4 = 100"; "" for the reference
// of an index without a unit, which is always 100.
std::string index_text(const Names& names, const Index& index, std::size_t group) {
  if (index.unit.empty() && group == index.reference) return "";
  const IndexValue& value = index.values[group];
  std::string text = " with " + index.text(value.value);
  if (!index.unit.empty()) text += " " + index.rate;
  if (value.interval) {
    text +=
        fmt::format(" ({}–{})", index.text(value.interval->low), index.text(value.interval->high));
  }
  if (index.unit.empty()) text += fmt::format(", {} = 100", names[*index.reference]);
  return text;
}

// Whether the intervals of an index leave open that the best group is better than all others: those
// of the ratio, where one of the two is the reference.
std::string doubt_of(const Names& names, const Index& index, std::span<const std::size_t> order) {
  constexpr double kReference = 100;
  const IndexValue& best = index.values[order[0]];
  std::vector<std::string> open;
  for (const std::size_t other : order.subspan(1)) {
    const IndexValue& next = index.values[other];
    const bool to_reference = order[0] == index.reference || other == index.reference;
    const auto& ratio = other == index.reference ? best.relative_interval : next.relative_interval;
    if (to_reference ? !ratio : !best.interval || !next.interval) {
      return ", not certain: there are too few runs for the interval of a difference";
    }
    const bool overlap = to_reference ? ratio->low <= kReference && kReference <= ratio->high
                                      : best.interval->low <= next.interval->high &&
                                            next.interval->low <= best.interval->high;
    if (overlap) open.push_back(names[other]);
  }
  return open.empty() ? ""
                      : fmt::format(
                            ", not certain: the 95 % intervals leave open whether it is "
                            "better than {}",
                            open.size() > 2 && open.size() + 1 == order.size()
                                ? std::string("any other")
                                : fmt::format("{}", fmt::join(open, ", ")));
}

// "B leads the index “all” with 123 MB/s (110–130), not certain: …"; "" without one.
std::string leader_text(const Standings& standings) {
  if (standings.indexes.empty() || standings.indexes.front().values.empty()) return "";
  const Index& index = standings.indexes.front();
  const std::vector<std::size_t> order = index.order();
  const std::string part = index.measurements.size() < index.out_of
                               ? fmt::format(" of {}", counted_of(index.measurements.size(),
                                                                  index.out_of, "measurement"))
                               : "";
  const Names& names = standings.ranking.names;
  return fmt::format("{} leads the index “{}”{}{}{}", names[order[0]], index.definition.name, part,
                     index_text(names, index, order[0]), doubt_of(names, index, order));
}

}  // namespace

bool RowStandings::shows(const Metric& metric) const {
  struct Shown {
    Figure tested;
    std::string_view metric;
  };
  static constexpr std::array<Shown, 4> kShown = {{{Figure::durable, "durable_s"},
                                                   {Figure::elapsed, "operations_per_s"},
                                                   {Figure::elapsed, "elapsed_s"},
                                                   {Figure::per_operation, "operations_per_s"}}};
  const bool is_rate = metric.name == "mb_per_s" || metric.name == "files_per_s";
  if (is_rate) return tested == (wrote ? Figure::durable : Figure::elapsed);
  return std::ranges::any_of(kShown, [&](const Shown& shown) {
    return shown.tested == tested && shown.metric == metric.name;
  });
}

Standing RowStandings::of(std::size_t series, const Metric& metric) const {
  return by_series.empty() || !shows(metric) ? Standing::none : by_series[series];
}

Standings standings_of(const ReportColumns& columns, const Overview& overview) {
  Standings standings;
  if (overview.series.size() < 2) return standings;
  const std::vector<ResultGroup> groups = groups_of(columns, overview);
  std::map<MeasurementKey, std::size_t> rows;
  std::set<std::size_t> mixed;
  for (std::size_t i = 0; i < overview.rows.size(); ++i) rows.emplace(overview.rows[i].key, i);
  standings.rows.resize(overview.rows.size());
  standings.fastest.resize(groups.size());
  standings.ranking = rank_groups(groups);
  const Ranking& ranking = standings.ranking;
  const Warning* const few = find_or_null(ranking.warnings, kFewRuns, &Warning::code);
  if (few && ranking.need_runs > ranking.need_sessions) {
    standings.advice = few->next_step;
  }
  for (const RankedMeasurement& ranked : ranking.measurements) {
    MeasurementKey key = ranked.key;
    key.file_system.clear();
    const auto row = rows.find(key);
    if (row == rows.end()) continue;
    const auto series = [&](std::size_t group) {
      return series_of(group, ranked.key.file_system, overview, groups.size());
    };
    RowStandings& of_row = standings.rows[row->second];
    for (const RankedEntry& entry : ranked.entries) {
      if (!entry.comparable && entry.side.samples > 0)
        of_row.other_work.push_back(series(entry.group));
    }
    if (!ranked.comparable()) continue;
    ++standings.compared;
    standings.decided += ranked.decided() ? 1 : 0;
    standings.indicated += !ranked.decided() && ranked.indicates() ? 1 : 0;
    if (const RankedEntry* fastest = ranked.fastest()) ++standings.fastest[fastest->group];
    // The file systems of a row have one figure, or no marks.
    const bool is_first = of_row.by_series.empty();
    of_row.by_series.resize(overview.series.size(), Standing::none);
    if (!is_first && of_row.tested != ranked.figure) mixed.insert(row->second);
    of_row.tested = ranked.figure;
    of_row.wrote = has_written(overview.rows[row->second]);
    add_standings(ranked, series, of_row.by_series);
  }
  for (const std::size_t row : mixed) {
    std::ranges::fill(standings.rows[row].by_series, Standing::none);
  }
  standings.indexes = default_indexes(MatchedGroups(groups),
                                      reference_of(columns.pooled(), overview, groups.size()));
  return standings;
}

std::string verdict_of(const Overview& overview, const Standings& standings) {
  if (overview.series.size() < 2) return "";
  const std::string leader = leader_text(standings);
  return fmt::format("{}{}{}.", order_text(standings), leader.empty() ? "" : "; ", leader);
}

void follow_comparison(const ResultComparison& comparison, const Overview& overview,
                       Standings& standings) {
  if (overview.series.size() != 2 || overview.series[0].result == overview.series[1].result) return;
  std::map<MeasurementKey, const ComparedMeasurement*> compared;
  for (const ComparedMeasurement& measurement : comparison.measurements) {
    MeasurementKey key = measurement.key;
    key.file_system.clear();
    compared.emplace(std::move(key), &measurement);
  }
  for (std::size_t i = 0; i < overview.rows.size(); ++i) {
    const auto found = compared.find(overview.rows[i].key);
    standings.rows[i] = {};
    if (found == compared.end()) continue;
    if (!found->second->comparable) {
      const bool both = found->second->base.samples > 0 && found->second->fresh.samples > 0;
      if (both) standings.rows[i].other_work = {1};  // unlike that of the base
      continue;
    }
    const AspectResult& time = found->second->time;
    standings.rows[i].tested = found->second->figure;
    standings.rows[i].wrote = has_written(overview.rows[i]);
    standings.rows[i].by_series.assign(2, Standing::none);
    const Verdict change = time.indicated.value_or(time.verdict);
    if (change != Verdict::slower && change != Verdict::faster) continue;
    standings.rows[i].by_series[change == Verdict::faster ? 1 : 0] =
        time.indicated ? Standing::indicated : Standing::best;
  }
}

Json ranking_data(const Standings& standings) {
  const Ranking& ranking = standings.ranking;
  if (ranking.names.empty()) return nullptr;
  const Parameters shared = shared_replay_of(ranking.measurements);
  Json json = {{"promise", promise_text(ranking)},
               {"names", ranking.names},
               {"warnings", warnings_to_json(ranking.warnings)},
               {"measurements", Json::array()}};
  for (const RankedMeasurement& ranked : ranking.measurements) {
    Json ranks(ranking.names.size(), nullptr);
    for (const RankedEntry& entry : ranked.entries) {
      if (entry.rank > 0) ranks[entry.group] = rank_text(entry.rank, entry.last_rank);
    }
    json["measurements"].push_back({{"key", key_text(ranked.key, shared)},
                                    {"figure", figure_name(ranked.figure)},
                                    {"proven", ranked.has_ranks()},
                                    {"conclusion", conclusion_text(ranked, ranking)},
                                    {"ranks", std::move(ranks)}});
  }
  return json;
}

Json differences_data(const Standings& standings) {
  const Names& names = standings.ranking.names;
  Json list = Json::array();
  for (const Difference& difference : standings.ranking.differences) {
    Json& json = list.emplace_back(Json{{"what", difference.what}, {"values", Json::array()}});
    for (const auto& [value, series] : difference.by_value(names)) {
      json["values"].push_back({{"value", value}, {"series", series}});
    }
  }
  return list;
}

Json indexes_data(const Overview& overview, const Standings& standings) {
  const Names& names = standings.ranking.names;
  Json list = indexes_to_json(standings.indexes, names);
  for (std::size_t i = 0; i < standings.indexes.size(); ++i) {
    const Index& index = standings.indexes[i];
    list[i]["rate"] = index.rate;
    list[i]["contents"] = index.contents();
    for (std::size_t group = 0; group < list[i]["entries"].size(); ++group) {
      const bool is_series = names.size() == overview.series.size();
      list[i]["entries"][group]["series"] = is_series ? group : overview.series.size();
    }
    list[i]["interval_name"] = index.interval_name();
    list[i]["relative_interval_name"] = index.relative_interval_name();
  }
  return list;
}

}  // namespace filereel
