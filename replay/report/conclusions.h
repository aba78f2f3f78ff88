// What the results of a report show: the same in all formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/report/overview.h"
#include "replay/report/pool.h"
#include "replay/report/ranking_data.h"

namespace filereel {

struct Conclusions {
  Overview overview;                           // refers to the columns
  std::optional<ResultComparison> comparison;  // of exactly two columns
  Standings standings;
  std::vector<std::string> findings;
};

// The columns must outlive the conclusions.
Conclusions conclusions_of(const ReportColumns& columns);

}  // namespace filereel
