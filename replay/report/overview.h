// All results in one table: measurements by drives and file systems.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/report/figures.h"
#include "replay/results/metrics.h"

namespace filereel {

// A column: a result on one file system. In charts a bar or a line.
struct Series {
  std::size_t result = 0;  // index in the list
  std::string file_system;
  std::string name;  // "Acme", "Acme, ext4"; for a single result "ext4"
};

// One measurement across all drives and file systems.
struct OverviewRow {
  MeasurementKey key;                     // without the file system
  const Measurement* first = nullptr;     // first of the cells
  std::vector<const Measurement*> cells;  // by series; null if not measured
  const Metric* metric = nullptr;         // that describes it best; all cells have it, if possible
};

struct Overview {
  std::vector<Series> series;
  std::vector<OverviewRow> rows;  // in the order of their first measurements
};

// subject_of() its measurements. The settings of a replay are named if others have different ones:
// "app (pace think)".
std::string subject_of(const OverviewRow& row, const Overview& overview);

// Refers to `results`. Leaves out series without samples.
Overview overview_of(std::span<const ReportedResult> results);

// The views of a report: those requested by the plans, otherwise one per job, or per step of
// FC-Test, in the order of measuring; recorded traces share one. Fills in missing forms and x axes,
// and for lines and matrices missing metrics (the first metric is shown first). Bars and tables
// without metrics show each row by its own. Leaves out views without measurements.
std::vector<ReportView> views_of(std::span<const ReportedResult> results, const Overview& overview);

}  // namespace filereel
