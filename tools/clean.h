// What killed runs left behind goes with the next command that makes something.
#pragma once

#include "tools/session.h"

namespace filereel {

// Removes it, with a remark for each file or directory. What cannot be removed stays, with a
// remark.
void clear_leftovers(const Session& session);

}  // namespace filereel
