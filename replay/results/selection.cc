#include "replay/results/selection.h"

#include <algorithm>

#include <fnmatch.h>

namespace filereel {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool is_selected(std::span<const std::string> patterns, const std::string& name) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return matches(pattern, name);
         });
}

bool is_selected(const ReportView& view, const Measurement& measurement) {
  return is_selected(view.jobs, measurement.workload) &&
         is_selected(view.operations, measurement.operation) &&
         is_selected(view.sets, measurement.set);
}

}  // namespace filereel
