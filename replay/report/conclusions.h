// What the results of a report show: the same in all formats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/prediction_json.h"
#include "replay/report/overview.h"
#include "replay/report/pool.h"
#include "replay/report/ranking_data.h"

namespace filereel {

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
