// Results of one drive as one: a reviewer measures a drive with several commands.
#pragma once

#include <span>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// A result for each drive, in the order of the first results. Results belong together if they have
// the same drives (model, serial number, firmware), label and machine; where no drive is known, the
// same label, which must not be empty; and if jobs of the same name were set alike. Measurements of
// the same thing are one with the samples of all, whose repetitions are numbered on. The file is
// those of all, joined with ", ".
std::vector<ReportedResult> pooled_by_drive(std::span<const ReportedResult> results);

}  // namespace filereel
