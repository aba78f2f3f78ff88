// Texts that the checks of results have in common.
#pragma once

#include <string>

#include "replay/results/result.h"

namespace filereel {

// "'create of iso' on ext4".
std::string quoted_name(const Measurement& measurement);

// "12 %".
std::string percent_text(double share);

// "0.4 cores".
std::string cores_text(double cores);

// Whether a quota of processor time made filereel wait in more than one period of a hundred.
bool is_throttled(const Conditions& conditions);

}  // namespace filereel
