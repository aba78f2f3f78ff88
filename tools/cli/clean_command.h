// Every command that creates something first removes the leftovers of killed runs.
#pragma once

#include "tools/cli/session.h"

namespace filereel {

// Removes leftovers, with a notice for each file or directory. Also reports those that cannot be
// removed.
void clear_leftovers(const Session& session);

}  // namespace filereel
