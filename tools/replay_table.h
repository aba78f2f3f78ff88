// The tables of recorded traces.
#pragma once

#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// A row for each of one file system: how long it took, how long when it was recorded, and how many
// results were others than in the trace.
std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold);

// Of the repetition with the median time: totals, a row for each kind of operation, and what
// differed from the trace. "" if there is none.
std::string replay_details(const Measurement& measurement, const Bold& bold);

}  // namespace filereel
