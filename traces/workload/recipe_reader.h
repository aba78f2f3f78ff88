// From YAML to a recipe: the language of docs/workloads.md at one point of its sweeps.
#pragma once

#include "filesets/specification/yaml_reader.h"
#include "traces/workload/recipe.h"
#include "traces/workload/sweep.h"

namespace filereel {

// Throws Error(unusable_input) with line and column for what is not possible. What describes the
// workload as a whole (its description, say) is known and left to the caller.
Recipe read_recipe(const YamlValue& document, Sweep& sweep);

// All keys that may stand at the top of a workload.
YamlMap workload_keys(const YamlValue& document);

}  // namespace filereel
