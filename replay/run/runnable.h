// What `filereel run` can run.
#pragma once

#include <string>
#include <variant>

#include "replay/run/plan.h"
#include "traces/workload/workload.h"

namespace filereel {

using Runnable = std::variant<Plan, Workload>;

// A plan or a workload of the catalogue, or one from a YAML file: what says which sets or which
// workload it runs is a plan. Throws Error.
Runnable load_runnable(const std::string& name_or_path);

}  // namespace filereel
