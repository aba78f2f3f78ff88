// The comparison's data for the report page.
#pragma once

#include "replay/compare/comparison.h"
#include "replay/json_fwd.h"

namespace filereel {

Json comparison_data(const ResultComparison& comparison);

}  // namespace filereel
