// Ranks and indices of all drives (replay/compare) for the page and the findings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/index.h"
#include "replay/json_fwd.h"
#include "replay/report/overview.h"

namespace filereel {

struct Standings {
  // By row and series of the overview: 1 + the number of series that are shown to be faster; 0: not
  // ranked. Empty for a row of which nothing is shown: all are alike as far as can be told.
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<Index> indexes;  // those of the plans, else the usual ones; values by series
  // Where there are too few repetitions to show any difference: "measure with --runs 9 or more".
  std::string advice;
};

// Nothing for fewer than two series. Indices are relative to the first result that is marked as the
// reference.
Standings standings_of(std::span<const ReportedResult> results, const Overview& overview);

// Who is fastest in how many measurements, and who leads an index; "" for fewer than two series.
std::string verdict_of(const Overview& overview, const Standings& standings);

Json indexes_data(const Overview& overview, const Standings& standings);

}  // namespace filereel
