// The tables of replayed reels.
#pragma once

#include <string>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// Totals, a row for each kind of operation, what differed from the trace, and what there is to
// know. Of several repetitions the one with the median time is shown, with the extremes of all.
std::string format_replay(const Result& result, const Bold& bold);

}  // namespace filereel
