// How the work on files compares with block level, for people.
#pragma once

#include <string>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// What fio reached, and what share of it the measurements did; "" without a block baseline.
std::string format_efficiency(const Result& result, const Bold& bold);

// "5 runs each", or how many automatic runs there were and why there are no more.
std::string describe_runs(const Result& result);

}  // namespace filereel
