// Checks whether the work of a result was done. Called by check_result.
#pragma once

#include "replay/results/result.h"

namespace filereel {

// Warns of calls that failed although they should have succeeded: one line for each volume,
// operation and error.
void check_calls(Result& result);

}  // namespace filereel
