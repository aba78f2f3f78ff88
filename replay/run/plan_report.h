// What a plan says of its reports: views and indices (docs/plans.md).
#pragma once

#include <span>

#include "filesets/specification/yaml_reader.h"
#include "replay/results/result.h"

namespace filereel {

// Both throw Error(unusable_input) with line and column. `jobs`: all of the plan, which a view may
// name. `swept`: the axes that it names must be there; a sweep of the command line may have left
// one of their values, and then they are not.
ReportView read_view(const YamlValue& item, std::span<const JobRecord> jobs, bool swept);
IndexDefinition read_index(const YamlValue& item);

}  // namespace filereel
