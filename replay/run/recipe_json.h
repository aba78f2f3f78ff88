// A recipe as JSON, for `filereel show --json` and for the digest of work (work_digest.h): sizes in
// bytes, times in seconds, shares from 0 to 1.
#pragma once

#include "replay/json_fwd.h"
#include "traces/workload/recipe.h"

namespace filereel {

// A list of groups, and one of phases. A new member is left out at its default value, so that
// digests of older recipes stay as they are.
Json files_to_json(const Recipe& recipe);
Json phases_to_json(const Recipe& recipe);

}  // namespace filereel
