#include "replay/report/ranking_data.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "replay/compare/groups.h"
#include "replay/compare/ranking.h"
#include "replay/compare/ranking_json.h"
#include "replay/json.h"
#include "replay/report/formatting.h"
#include "replay/results/file_systems.h"

namespace filereel {
namespace {

// One per series, in order.
std::vector<ResultGroup> groups_of(const ReportColumns& columns, const Overview& overview) {
  std::vector<ResultGroup> groups;
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

std::vector<Index> indexes_of(std::span<const ReportedResult> results, const Overview& overview,
                              const MatchedGroups& matched) {
  std::optional<std::size_t> reference;
  std::vector<IndexDefinition> definitions;
  for (std::size_t i = 0; i < overview.series.size(); ++i) {
    const ReportedResult& one = results[overview.series[i].result];
    if (one.reference && !reference) reference = i;
    for (const IndexDefinition& definition : one.result.plan.indexes) {
      if (std::ranges::find(definitions, definition) == definitions.end()) {
        definitions.push_back(definition);
      }
    }
  }
  if (definitions.empty()) return default_indexes(matched, reference);
  std::vector<Index> indexes;
  for (const IndexDefinition& definition : definitions) {
    indexes.push_back(index_of(definition, matched, reference));
  }
  return indexes;
}

}  // namespace

Standings standings_of(const ReportColumns& columns, const Overview& overview) {
  Standings standings;
  if (overview.series.size() < 2) return standings;
  const std::vector<ResultGroup> groups = groups_of(columns, overview);
  std::map<MeasurementKey, std::size_t> rows;
  for (std::size_t i = 0; i < overview.rows.size(); ++i) rows.emplace(overview.rows[i].key, i);
  standings.ranks.resize(overview.rows.size());
  const Ranking ranking = rank_groups(groups);
  const auto few = std::ranges::find(ranking.warnings, kFewRuns, &Warning::code);
  if (few != ranking.warnings.end()) standings.advice = few->next_step;
  for (const RankedMeasurement& one : ranking.measurements) {
    MeasurementKey key = one.key;
    key.file_system.clear();
    const auto row = rows.find(key);
    if (row == rows.end() || !one.decided()) continue;
    std::vector<std::uint32_t>& ranks = standings.ranks[row->second];
    ranks.resize(overview.series.size());
    for (const RankedEntry& entry : one.entries) ranks[entry.group] = entry.rank;
  }
  standings.indexes = indexes_of(columns.pooled(), overview, MatchedGroups(groups));
  return standings;
}

std::string verdict_of(const Overview& overview, const Standings& standings) {
  if (overview.series.size() < 2) return "";
  std::vector<std::size_t> firsts(overview.series.size());
  std::size_t decided = 0;
  for (const std::vector<std::uint32_t>& ranks : standings.ranks) {
    if (!ranks.empty()) ++decided;
    for (std::size_t i = 0; i < ranks.size(); ++i) firsts[i] += ranks[i] == 1 ? 1 : 0;
  }
  if (decided == 0) {
    return standings.advice.empty()
               ? "No significant difference in speed."
               : fmt::format("Too few repetitions to show a difference in speed: {}.",
                             standings.advice);
  }
  const auto most = std::ranges::max_element(firsts) - firsts.begin();
  std::string text = fmt::format(
      "{} is fastest, or tied for fastest, in {} of the {} difference",
      overview.series[static_cast<std::size_t>(most)].name, firsts[static_cast<std::size_t>(most)],
      counted(decided, "measurement that shows a", "measurements that show a"));
  const bool any = !standings.indexes.empty() && !standings.indexes.front().values.empty();
  if (!any) return text + ".";
  const Index& index = standings.indexes.front();
  const auto leader = std::ranges::max_element(index.values, {}, &IndexValue::value);
  const std::string& name =
      overview.series[static_cast<std::size_t>(leader - index.values.begin())].name;
  return text + fmt::format("; {} leads the index “{}” with {} {}{}.", name, index.definition.name,
                            rate_text(leader->value), index.unit,
                            leader->interval
                                ? fmt::format(" ({}–{})", rate_text(leader->interval->low),
                                              rate_text(leader->interval->high))
                                : "");
}

Json indexes_data(const Overview& overview, const Standings& standings) {
  std::vector<std::string> names;
  for (const Series& one : overview.series) names.push_back(one.name);
  return indexes_to_json(standings.indexes, names);
}

}  // namespace filereel
