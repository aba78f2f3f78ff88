// Checks whether the work of a result was done, and of what limited or stopped filereel. Called by
// check_result.
#pragma once

#include <array>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Adds warnings of
// - calls that failed although they should have succeeded, one for each volume, operation and error
// - a quota of processor time that made filereel wait
// - samples during which filereel was stopped, or the machine suspended
// - runs of a phase with a time limit that did different numbers of operations
// - operations that took seconds on a share, which may not have responded
void check_work(Result& result);

// The codes of these warnings.
inline constexpr std::array<std::string_view, 6> kWorkCodes = {
    "not-warm", "calls-failed", "cpu-throttled", "run-stopped", "runs-unequal", "share-slow"};

}  // namespace filereel
