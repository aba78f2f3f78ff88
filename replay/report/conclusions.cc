#include "replay/report/conclusions.h"

#include "replay/report/findings.h"

namespace filereel {

Conclusions conclusions_of(const ReportColumns& columns) {
  const std::vector<ReportedResult>& results = columns.pooled();
  Conclusions all;
  all.overview = overview_of(results);
  all.standings = standings_of(columns, all.overview);
  if (results.size() == 2) {
    const std::vector<std::string> names = result_names(results);
    all.comparison = compare_results(columns.sessions(0), columns.sessions(1));
    all.comparison->base_name = names[0];
    all.comparison->fresh_name = names[1];
  }
  all.findings = findings_of(results, all.overview, all.comparison ? &*all.comparison : nullptr,
                             verdict_of(all.overview, all.standings));
  return all;
}

}  // namespace filereel
