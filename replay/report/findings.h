// What a reader should know first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/report/figures.h"

namespace filereel {

// A sentence each, what matters most first; names in them are bytes as they are.
std::vector<std::string> findings_of(std::span<const ReportedResult> results);

}  // namespace filereel
