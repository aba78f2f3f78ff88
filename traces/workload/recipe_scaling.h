// A recipe made smaller or larger.
#pragma once

#include "traces/workload/recipe.h"

namespace filereel {

// `scale` 0 to kMaxScale (filesets/specification/scaling.h). The bytes of a group of files, and the
// operations and bytes that end a phase, are multiplied by it. Files of a mebibyte and more become
// smaller first, down to a mebibyte or what one access takes; then there are fewer of them.
Recipe scaled(Recipe recipe, double scale);

}  // namespace filereel
