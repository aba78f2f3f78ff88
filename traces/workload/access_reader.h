// The part of a workload that says what is read and written where.
#pragma once

#include "traces/workload/recipe.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// An access mix on the files of a group. Throws Error(unusable_input).
AccessMix read_access(const YamlValue& value, Sweep& sweep, const RecipeFiles& files, bool direct);

SyncPolicy read_sync(const YamlValue& value, Sweep& sweep);
// Of a step, which may go without.
SyncKind read_step_sync(const YamlValue& value);

}  // namespace filereel
