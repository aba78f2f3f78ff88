// Results of one drive as one: a reviewer measures a drive with several commands.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// Which of the results are of one drive: for each the number of its column, from 0, in the order of
// their first results. Results belong together if they have the same label, drives (model, serial
// number, firmware) and machine, and jobs of the same name were set alike. Without a label the
// drives must be known, and no two may measure the same thing: that may be meant to be compared.
// Those with a group go by that alone.
std::vector<std::size_t> columns_of(std::span<const ReportedResult> results);

// A result for each column. Measurements of the same thing are one with the samples of all, whose
// repetitions are numbered on. The file is those of all, joined with ", ".
std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results);

}  // namespace filereel
