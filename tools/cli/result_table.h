// The tables of a result, and that of efficiency.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/cli/table.h"

namespace filereel {

// --- The table of file-level rates relative to block-level rates.

// The rates of fio, and the share of them that each measurement reached; "" without a baseline.
std::string format_efficiency(const Result& result, const Bold& bold);

// --- The tables of a result.

// The tables that a storage reviewer would publish. For each file system: FC-Test as file sets ×
// steps, workloads by phase or by point of the sweep, all recorded traces together, the figures of
// several clients; below them the settings, the machine and the warnings.
std::string format_result(const Result& result, const Bold& bold);

// Of results measured in turns, at least one: what is below the tables of all comes once, at the
// end.
std::string format_results(std::span<const Result* const> results, const Bold& bold);

}  // namespace filereel
