// Ranks and indices of all drives (replay/compare) for the page and the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/compare/index.h"
#include "replay/json_fwd.h"
#include "replay/report/overview.h"
#include "replay/report/pool.h"
#include "replay/results/metrics.h"

namespace filereel {

// What a ranking says of a series.
enum class Standing : std::uint8_t {
  none,
  indicated,  // faster than all others, not proven
  best,       // the others are proven slower, or not shown to differ
};

struct Standings {
  // By row and series of the overview; empty for a row that was not ranked.
  std::vector<std::vector<Standing>> rows;
  std::vector<std::size_t> fastest;  // by series: rows in which it is shown to beat all others
  // Rows that could be ranked, and those of them with a proven order and with an indicated one.
  std::size_t compared = 0, decided = 0, indicated = 0;
  std::vector<Index> indexes;  // as in `filereel compare`; values by series
  // Set if there are too few repetitions to show a difference: "measure with --runs 9 or more".
  std::string advice;
};

// Empty for fewer than two series. Indices are relative to the first result marked as reference.
// `overview`: of the pooled results.
Standings standings_of(const ReportColumns& columns, const Overview& overview);

// Whether the ranking of times holds for the metric, too.
bool is_ranked(const Metric& metric);

// The series that are shown to be the fastest, and the one that leads an index; "" for fewer than
// two series.
std::string verdict_of(const Overview& overview, const Standings& standings);

Json indexes_data(const Overview& overview, const Standings& standings);

}  // namespace filereel
