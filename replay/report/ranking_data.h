// Ranks and indices of all drives (replay/compare) for the page and the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/compare/index.h"
#include "replay/compare/ranking.h"
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

// A row of the overview as it was ranked.
struct RowStandings {
  Figure tested = Figure::durable;
  bool wrote = true;                         // its rates end when all is durable (rate_time)
  std::vector<Standing> by_series;           // empty for a row that was not ranked
  std::vector<std::size_t> other_work = {};  // series that did other work, so that nothing compares

  // Whether a metric orders measurements as the tested figure does: a ranking of times until
  // durable says nothing of times until calls return, and a fixed duration has no order.
  bool shows(const Metric& metric) const;

  // The mark of a series' figure: none unless the figure is the tested one.
  Standing of(std::size_t series, const Metric& metric) const;
};

struct Standings {
  std::vector<RowStandings> rows;  // of the overview; empty for fewer than two series
  // By entry of the ranking: measurements in which it is shown to beat all others.
  std::vector<std::size_t> fastest;
  // Measurements that could be ranked, and those of them with a proven order and with an indicated
  // one.
  std::size_t compared = 0, decided = 0, indicated = 0;
  std::vector<Index> indexes;  // as in `filereel compare`; values by entry of the ranking
  // Set if there are too few repetitions to show a difference: "measure with --runs 9 or more".
  std::string advice;
  Ranking ranking;  // of the series, or of the columns on each file system (share_file_systems)
};

// Marks of two series after their comparison, which is what the report says of them: one page has
// no second answer at another level. Those of more series, such as two results on several file
// systems, stay those of the ranking.
void follow_comparison(const ResultComparison& comparison, const Overview& overview,
                       Standings& standings);

// Empty for fewer than two series. Indices are relative to the first result marked as reference.
// `overview`: of the pooled results.
Standings standings_of(const ReportColumns& columns, const Overview& overview);

// The series that are shown to be the fastest, and the one that leads an index; "" for fewer than
// two series.
std::string verdict_of(const Overview& overview, const Standings& standings);

// What is proven of each measurement, and the ranks of the series; null for fewer than two.
Json ranking_data(const Standings& standings);

// Each difference with its values, and the series that have them.
Json differences_data(const Standings& standings);

Json indexes_data(const Overview& overview, const Standings& standings);

}  // namespace filereel
