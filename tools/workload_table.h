// The tables of workloads.
#pragma once

#include <string>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// "1.23k", "456", "0.12": three significant digits, thousands and millions by letter.
std::string short_number(double value);

// Per file system: without a sweep a row for each phase, with one axis a row for each value, with
// more a matrix of the last two under headings of the others; and under them what there is to know.
std::string format_workload(const Result& result, const Bold& bold);

}  // namespace filereel
