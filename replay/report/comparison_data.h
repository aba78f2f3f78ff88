// What the page of a report shows of a comparison.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "replay/compare/comparison.h"

namespace filereel {

nlohmann::ordered_json comparison_data(const ResultComparison& comparison);

}  // namespace filereel
