// What the page of a report shows of a comparison.
#pragma once

#include "replay/compare/comparison.h"
#include "replay/json_fwd.h"

namespace filereel {

Json comparison_data(const ResultComparison& comparison);

}  // namespace filereel
