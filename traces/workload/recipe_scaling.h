// Scales a recipe.
#pragma once

#include "traces/workload/recipe.h"

namespace filereel {

// `scale`: 0 to kMaxScale (filesets/specification/scaling.h), the factor for the bytes of each
// group of files and for the operations and bytes that end a phase. Files of a mebibyte or more
// shrink first, down to a mebibyte or the size of one access; then their number is reduced.
Recipe scaled(Recipe recipe, double scale);

}  // namespace filereel
