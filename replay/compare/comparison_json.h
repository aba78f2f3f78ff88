// The JSON form of comparisons (docs/compare.md), which other programs rely on.
#pragma once

#include <string>

#include "replay/compare/comparison.h"
#include "replay/json_fwd.h"

namespace filereel {

inline constexpr int kComparisonSchemaVersion = 1;

// The members that say what was measured.
Json key_to_json(const MeasurementKey& key);

// Pretty-printed, ends with a newline. Names that are not UTF-8 lose the bytes that are not.
std::string comparison_to_json(const ResultComparison& comparison);

}  // namespace filereel
