// What a reader should know first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/report/figures.h"

namespace filereel {

// A sentence each, what matters most first; names in them are bytes as they are. `comparison` is
// that of two results, which then comes first, else null; without it `verdict` comes first, unless
// it is empty (verdict_of).
std::vector<std::string> findings_of(std::span<const ReportedResult> results,
                                     const ResultComparison* comparison = nullptr,
                                     const std::string& verdict = {});

}  // namespace filereel
