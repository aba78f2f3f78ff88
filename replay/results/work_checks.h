// Checks whether the work of a result was done, and of what limited or stopped filereel. Called by
// check_result.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "filesets/system/control_groups.h"
#include "replay/results/result.h"

namespace filereel {

// --- Texts that the checks of results have in common.

// "'create of iso' on ext4".
std::string quoted_name(const Measurement& measurement);

// "12 %".
std::string percent_text(double share);

// "0.4 cores".
std::string cores_text(double cores);

Throttling throttling_of(const Conditions& conditions);

// "the CPU quota of 0.4 cores made `whom` wait in 41 of 46 periods, 3.2 s in all".
std::string quota_wait_text(const Throttling& all, std::string_view whom);

// Whether a quota of processor time made filereel wait in more than one period of a hundred.
bool is_throttled(const Conditions& conditions);

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
