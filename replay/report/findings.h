// The main findings of a report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/report/figures.h"
#include "replay/report/overview.h"

namespace filereel {

// One sentence each, the most important first; names are unescaped. Results that failed or ended
// early come before all else. With `comparison` (of two results, otherwise null) its verdict comes
// first, otherwise `verdict` (verdict_of) unless it is empty. `overview`: of the results.
std::vector<std::string> findings_of(std::span<const ReportedResult> results,
                                     const Overview& overview, const ResultComparison* comparison,
                                     const std::string& verdict);
std::vector<std::string> findings_of(std::span<const ReportedResult> results,
                                     const ResultComparison* comparison = nullptr,
                                     const std::string& verdict = {});

}  // namespace filereel
