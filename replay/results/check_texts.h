// Texts that the checks of results have in common.
#pragma once

#include <string>

#include "replay/results/result.h"

namespace filereel {

// "'create of iso' on ext4".
std::string quoted_name(const Measurement& measurement);

// "12 %".
std::string percent_text(double share);

}  // namespace filereel
