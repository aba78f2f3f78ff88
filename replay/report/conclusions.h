// What the results of a report show: the same in all formats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/prediction_json.h"
#include "replay/report/figures.h"
#include "replay/report/overview.h"
#include "replay/report/pool.h"
#include "replay/report/ranking_data.h"

namespace filereel {

// --- The main findings of a report.

// One sentence each, the most important first; names are unescaped. Results that failed or ended
// early come before all else. With `comparison` (of two results, otherwise null) its verdict comes
// first, otherwise `verdict` (verdict_of) unless it is empty. `overview`: of the results.
std::vector<std::string> findings_of(std::span<const ReportedResult> results,
                                     const Overview& overview, const ResultComparison* comparison,
                                     const std::string& verdict);
std::vector<std::string> findings_of(std::span<const ReportedResult> results,
                                     const ResultComparison* comparison = nullptr,
                                     const std::string& verdict = {});

struct Conclusions {
  Overview overview;  // refers to the columns
  // Of exactly two columns. A report of predictions alone has neither comparison nor ranking: the
  // replays of a prediction answer one question, at its level.
  std::optional<ResultComparison> comparison;
  Standings standings;
  std::vector<std::string> findings;

  // Two columns of one file system each have their comparison instead.
  bool shows_ranking() const { return !comparison || overview.series.size() > 2; }
};

// The columns must outlive the conclusions.
Conclusions conclusions_of(const ReportColumns& columns,
                           std::span<const StoredPrediction> predictions);

}  // namespace filereel
