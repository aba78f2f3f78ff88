// Lists what differs between two groups of results besides their figures.
#pragma once

#include <span>
#include <vector>

#include "replay/compare/comparison.h"

namespace filereel {

// Firmware first, then the file system and the drives. Unknown values in one of the groups do not
// count as changes.
std::vector<Change> changes_between(std::span<const Result> base, std::span<const Result> fresh);

}  // namespace filereel
