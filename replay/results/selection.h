// Selects measurements by patterns.
#pragma once

#include <span>
#include <string>

#include "replay/results/result.h"

namespace filereel {

// Whether a name matches a pattern with * and ? as in file names.
bool matches(const std::string& pattern, const std::string& name);
// Whether any of the patterns matches, or there are none.
bool is_selected(std::span<const std::string> patterns, const std::string& name);

// Whether a view shows the measurement.
bool is_selected(const ReportView& view, const Measurement& measurement);

}  // namespace filereel
