// Results of one drive as one: a reviewer measures a drive with several commands.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// Which of the results are of one drive: for each the number of its column, from 0, in the order of
// their first results. Results belong together if they have the same drives (model, serial number,
// firmware), label and machine, or, where no drive is known, the same label, which must not be
// empty; and if jobs of the same name were set alike. Those with a group go by that alone.
std::vector<std::size_t> columns_of(std::span<const ReportedResult> results);

// A result for each column. Measurements of the same thing are one with the samples of all, whose
// repetitions are numbered on. The file is those of all, joined with ", ".
std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results);

}  // namespace filereel
