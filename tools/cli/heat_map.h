// Heat maps of time and latency for the terminal.
#pragma once

#include <string>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"
#include "tools/cli/table.h"

namespace filereel {

// Time on the x axis, in at most 60 columns; latency on the y axis, logarithmic, in at most 12
// rows. A cell with one operation is "·", with more ░ ▒ ▓ █, by the logarithm of the count. A time
// scale and a legend follow. "" without operations.
std::string heat_map(const TimeGrid& grid);

// A heat map for each measurement with a latency grid and a title ("ext4 create install") that
// contains `wanted`. It is the sum of all samples, so that rare events show, whatever their run. If
// `wanted` is "", the first few, and a line about the others. Throws Error(usage) if none matches.
std::string heat_maps(const Result& result, const std::string& wanted, const Bold& bold);

}  // namespace filereel
