// The tables of a result.
#pragma once

#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// What a storage reviewer would publish. For each file system the jobs one after the other: FC-Test
// as sets × operations, workloads by phase or by point, recorded traces together; under them what
// there is to know.
std::string format_result(const Result& result, const Bold& bold);

}  // namespace filereel
