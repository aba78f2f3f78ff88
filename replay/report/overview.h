// All results in one table: what was measured down, drives and file systems across.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/report/figures.h"

namespace filereel {

// A column: a result on one file system. In charts a bar, or a line.
struct Series {
  std::size_t result = 0;  // its place in the list
  std::string file_system;
  std::string name;  // "Acme", "Acme, ext4", or of one result "ext4"
};

// One thing that was measured, wherever it was.
struct OverviewRow {
  MeasurementKey key;                     // without the file system
  const Measurement* first = nullptr;     // of the cells
  std::vector<const Measurement*> cells;  // by series; null where it was not measured
};

struct Overview {
  std::vector<Series> series;
  std::vector<OverviewRow> rows;  // in the order of their first measurements
};

// Refers to the results. Series without a measurement that has samples are left out.
Overview overview_of(std::span<const ReportedResult> results);

// The views of a report: those that the plans ask for, else one for each job, or for each step of
// FC-Test, in the order of measuring; recorded traces stand together. Forms, and of lines the axis
// that goes across, are filled in, and the metric that is shown first is the first one; views of
// which nothing was measured are left out.
std::vector<ReportView> views_of(std::span<const ReportedResult> results, const Overview& overview);

}  // namespace filereel
