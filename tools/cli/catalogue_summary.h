// Summaries of items of the catalogue: file sets and workloads.
#pragma once

#include <string>

#include "filesets/file_set.h"
#include "replay/json_fwd.h"
#include "tools/cli/table.h"
#include "traces/workload/workload.h"

namespace filereel {

// Statistics of a file set, as text and as JSON.
std::string describe_file_set(const FileSet& set, const Bold& bold);
Json file_set_to_json(const FileSet& set);

// --- Description of a workload, as text and as JSON.

// Description, source and notes, in lines of 80 columns.
std::string describe_origin(const Workload& workload, const Bold& bold);

// Files and phases at the first point of the sweep, and the keys; "" for a recorded trace.
std::string describe_recipe(const Workload& workload, const Bold& bold);

// The whole workload; sizes in bytes, times in seconds, shares from 0 to 1.
Json workload_to_json(const Workload& workload);

}  // namespace filereel
