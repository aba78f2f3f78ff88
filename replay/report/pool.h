// Pools results of one drive: reviewers measure a drive with several commands.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// Groups the results by drive: for each the number of its column, from 0, in the order of the first
// results. Results belong together if they have the same label, drives (model, serial number,
// firmware; for shares the source) and machine, and jobs of the same name have the same settings.
// Without a label, the drives must be known, and no two results may have the same measurement,
// which may be meant for comparison. Results with a group are grouped only by that.
std::vector<std::size_t> columns_of(std::span<const ReportedResult> results);

// One result per column, for tables and charts. Measurements of the same thing are merged with all
// their samples, and their repetitions renumbered. The file names are joined with ", ".
std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results);

// result_names of pooled_by_drive.
std::vector<std::string> column_names(std::span<const ReportedResult> results);

// The columns of a report. Results may take hundreds of megabytes: one that has a column of its own
// is not copied.
class ReportColumns {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): columns are the results, in another order
  ReportColumns(std::vector<ReportedResult> results);

  // See pooled_by_drive.
  const std::vector<ReportedResult>& pooled() const { return pooled_; }
  // The results of a column as they are: each is a session of its own in comparisons.
  std::span<const Result> sessions(std::size_t column) const;
  // See Result::keep_figures.
  void keep_figures();

 private:
  std::vector<ReportedResult> pooled_;
  std::vector<std::vector<Result>> sessions_;  // by column; empty for a single one, in `pooled_`
};

}  // namespace filereel
