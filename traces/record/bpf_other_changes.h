// Events of processes that are not recorded.
#pragma once

#include <cstddef>
#include <span>

#include "traces/check/other_changes.h"

namespace filereel {

// Adds what an event of the kind EVENT_OTHER tells. False: it is corrupt.
bool add_other_changes(std::span<const std::byte> event, OtherChanges& to);

}  // namespace filereel
