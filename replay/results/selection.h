// Choosing measurements by patterns: of views, of indices, of the command line.
#pragma once

#include <span>
#include <string>

#include "replay/results/result.h"

namespace filereel {

// Whether a name is as a pattern says, with * and ? as in file names.
bool matches(const std::string& pattern, const std::string& name);
// Whether any of the patterns is true of it, or there is none.
bool is_chosen(std::span<const std::string> patterns, const std::string& name);

// Selection: a ReportView or an IndexDefinition.
template <class Selection>
bool is_chosen(const Selection& selection, const Measurement& measurement) {
  return is_chosen(selection.jobs, measurement.workload) &&
         is_chosen(selection.operations, measurement.operation) &&
         is_chosen(selection.sets, measurement.set);
}

}  // namespace filereel
