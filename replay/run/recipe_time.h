// The time of the phases of a recipe, as it is assumed before they are measured.
#pragma once

#include <cstddef>

#include "replay/run/job.h"
#include "traces/workload/synthesis.h"

namespace filereel {

// `synthesis`: of the recipe.
ExpectedTime expected_time(const Recipe& recipe, std::size_t phase, const Synthesis& synthesis);

// The creation of the initial files on all volumes of the recipe, in seconds.
double fill_seconds(const Recipe& recipe, const Synthesis& synthesis);

}  // namespace filereel
