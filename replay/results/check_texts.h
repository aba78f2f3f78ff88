// Texts that the checks of results have in common.
#pragma once

#include <string>
#include <string_view>

#include "filesets/system/control_groups.h"
#include "replay/results/result.h"

namespace filereel {

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

}  // namespace filereel
