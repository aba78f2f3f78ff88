// The tables of replayed reels.
#pragma once

#include <functional>
#include <string>

#include "replay/runner/result.h"

namespace filereel {

// Totals, a row for each kind of operation, what differed from the trace, and what there is to
// know. Of several repetitions the one with the median time is shown, with the extremes of all.
// `bold` marks headings.
std::string format_replay(const Result& result,
                          const std::function<std::string(std::string)>& bold);

}  // namespace filereel
