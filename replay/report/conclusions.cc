#include "replay/report/conclusions.h"

#include "replay/report/findings.h"

namespace filereel {
namespace {

// Whether all results are those of the predictions.
bool only_predicted(const ReportColumns& columns, std::span<const StoredPrediction> predictions) {
  std::size_t results = 0, predicted = 0;
  for (std::size_t i = 0; i < columns.pooled().size(); ++i) results += columns.sessions(i).size();
  for (const StoredPrediction& one : predictions) predicted += one.results.size();
  return predicted > 0 && predicted == results;
}

}  // namespace

Conclusions conclusions_of(const ReportColumns& columns,
                           std::span<const StoredPrediction> predictions) {
  const std::vector<ReportedResult>& results = columns.pooled();
  Conclusions all;
  all.overview = overview_of(results);
  if (only_predicted(columns, predictions)) {
    const Ranking ranking = standings_of(columns, all.overview).ranking;
    all.standings.ranking.names = ranking.names;
    all.standings.ranking.differences = ranking.differences;
    all.findings = findings_of(results, all.overview, nullptr, "");
    return all;
  }
  all.standings = standings_of(columns, all.overview);
  if (results.size() == 2) {
    const std::vector<std::string> names = result_names(results);
    all.comparison = compare_results(columns.sessions(0), columns.sessions(1));
    all.comparison->base_name = names[0];
    all.comparison->fresh_name = names[1];
    follow_comparison(*all.comparison, all.overview, all.standings);
  }
  all.findings = findings_of(results, all.overview, all.comparison ? &*all.comparison : nullptr,
                             verdict_of(all.overview, all.standings));
  return all;
}

}  // namespace filereel
