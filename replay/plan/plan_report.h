// Reads the report section of a plan: views and indexes (docs/plans.md).
#pragma once

#include <span>

#include "filesets/specification/yaml_reader.h"
#include "replay/results/result.h"

namespace filereel {

// Both throw Error(unusable_input) with line and column. `jobs`: all jobs of the plan, which a view
// and an index may name. `swept`: the named axes must exist. Sweeps of the command line may reduce
// an axis to one value, which removes it.
ReportView read_view(const YamlValue& item, std::span<const JobRecord> jobs, bool swept);
IndexDefinition read_index(const YamlValue& item, std::span<const JobRecord> jobs);

}  // namespace filereel
