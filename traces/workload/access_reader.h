// Reads the access pattern of a workload.
#pragma once

#include "traces/workload/recipe.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// An access mix on the files of a group. Throws Error(unusable_input).
AccessMix read_access(const YamlValue& value, Sweep& sweep, const RecipeFiles& files, bool direct);

SyncPolicy read_sync(const YamlValue& value, Sweep& sweep);
// For a step, where it is optional.
SyncKind read_step_sync(const YamlValue& value);

}  // namespace filereel
