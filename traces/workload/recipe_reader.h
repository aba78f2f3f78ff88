// Reads a recipe from YAML: the language of docs/workloads.md, at one point of its sweeps.
#pragma once

#include "filesets/specification/yaml_reader.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/workload/recipe.h"
#include "traces/workload/sweep.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// --- Reads the part of a workload that describes a load on an InnoDB-like server.

// Throws Error(unusable_input).
MysqlMixOptions read_mysql(const YamlValue& value, Sweep& sweep);

// Throws Error(unusable_input) with line and column for invalid input. Leaves keys that describe
// the workload as a whole, such as its description, to the caller.
Recipe read_recipe(const YamlValue& document, Sweep& sweep);

// All keys allowed at the top of a workload.
YamlMap workload_keys(const YamlValue& document);

}  // namespace filereel
