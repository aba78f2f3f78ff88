// Choosing measurements by patterns.
#pragma once

#include <span>
#include <string>

#include "replay/results/result.h"

namespace filereel {

// Whether a name is as a pattern says, with * and ? as in file names.
bool matches(const std::string& pattern, const std::string& name);
// Whether any of the patterns is true of it, or there is none.
bool is_chosen(std::span<const std::string> patterns, const std::string& name);

// Whether a view shows it.
bool is_chosen(const ReportView& view, const Measurement& measurement);

}  // namespace filereel
