// Pools results of one drive: reviewers measure a drive with several commands.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// Groups the results by drive: for each the number of its column, from 0, in the order of the first
// results. Results belong together if they have the same label, drives (model, serial number,
// firmware; for shares the source) and machine, and jobs of the same name have the same settings.
// Without a label, the drives must be known, and no two results may have the same measurement,
// which may be meant for comparison. Results with a group are grouped only by that.
std::vector<std::size_t> columns_of(std::span<const ReportedResult> results);

// The results of each column as they are: each is a session of its own in comparisons.
std::vector<std::vector<Result>> sessions_by_column(std::span<const ReportedResult> results);

// One result per column, for tables and charts. Measurements of the same thing are merged with all
// their samples, and their repetitions renumbered. The file names are joined with ", ".
std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results);

}  // namespace filereel
