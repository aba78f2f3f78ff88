// The comparison's data for the report page.
#pragma once

#include <span>

#include "replay/compare/comparison.h"
#include "replay/compare/prediction_json.h"
#include "replay/json_fwd.h"

namespace filereel {

Json comparison_data(const ResultComparison& comparison);

// --- Predictions on the page, as JSON.

// An object for each, see page/prediction.js.
Json predictions_data(std::span<const StoredPrediction> predictions);

}  // namespace filereel
