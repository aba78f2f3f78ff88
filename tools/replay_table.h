// The tables of recorded traces.
#pragma once

#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// A row for each trace on one file system: its time, the recorded time, and the number of
// divergences.
std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold);

// Details of the repetition with the median time: totals, a row for each kind of operation, and the
// divergences. "" without samples.
std::string replay_details(const Measurement& measurement, const Bold& bold);

}  // namespace filereel
