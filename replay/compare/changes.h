// What else is not the same in two groups of results.
#pragma once

#include <span>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

// Firmware first, then the file system and the drives. What one of the groups does not know is not
// taken for a change.
std::vector<Change> changes_between(std::span<const Result> base, std::span<const Result> fresh);

}  // namespace filereel
