// The table of file-level rates relative to block-level rates.
#pragma once

#include <string>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// The rates of fio, and the share of them that each measurement reached; "" without a baseline.
std::string format_efficiency(const Result& result, const Bold& bold);

}  // namespace filereel
