// Heat maps of time and latency for the terminal.
#pragma once

#include <string>

#include "replay/measure/time_grid.h"
#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// Time to the right, in at most 60 columns; latency upwards, by powers, in at most 12 rows. A cell
// with one operation shows "·", with more ░ ▒ ▓ █, by the logarithm of their number. Under it stand
// the times and what the characters mean. "" where there was no operation.
std::string heat_map(const TimeGrid& grid);

// One for each measurement that has a course, of all its samples together: what is rare shows,
// whichever run it was in. Of those whose title ("ext4 create install") contains `wanted`; if that
// is "", of the first few, with a hint at the others. Throws Error(usage) if nothing contains it.
std::string heat_maps(const Result& result, const std::string& wanted, const Bold& bold);

}  // namespace filereel
