// Identifies what a run measures, by settings and sizes instead of the paths of its files.
#pragma once

#include <string>

#include "replay/run/run_request.h"

namespace filereel {

// What several processes with the same plan have in common: the content of recipes, file sets and
// traces (work_digest.h), settings, repetitions, and sizes of files and work. Throws Error for a
// corrupt trace.
std::string common_plan(const RunRequest& request);

// A digest of common_plan, names of jobs and sets, and replay parameters: 16 hexadecimal digits. It
// is equal for runs of the same plan, and only compared: it may change with any version of
// filereel. Reads short traces. Throws like common_plan.
std::string plan_digest(const RunRequest& request);

}  // namespace filereel
