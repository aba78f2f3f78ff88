// Ranks and indices of all drives (replay/compare) for the page and the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/compare/index.h"
#include "replay/json_fwd.h"
#include "replay/report/overview.h"
#include "replay/report/pool.h"

namespace filereel {

struct Standings {
  // By row and series of the overview: 1 + the number of series shown to be faster; 0: not ranked.
  // Empty for a row without any significant difference.
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<Index> indexes;  // those of the plans, otherwise the default ones; values by series
  // Set if there are too few repetitions to show a difference: "measure with --runs 9 or more".
  std::string advice;
};

// Empty for fewer than two series. Indices are relative to the first result marked as reference.
// `overview`: of the pooled results.
Standings standings_of(const ReportColumns& columns, const Overview& overview);

// The series that is fastest in most measurements, and the one that leads an index; "" for fewer
// than two series.
std::string verdict_of(const Overview& overview, const Standings& standings);

Json indexes_data(const Overview& overview, const Standings& standings);

}  // namespace filereel
