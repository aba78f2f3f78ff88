// Predictions on the page, as JSON.
#pragma once

#include <span>

#include "replay/compare/prediction_json.h"
#include "replay/json_fwd.h"

namespace filereel {

// An object for each, see page/prediction.js.
Json predictions_data(std::span<const StoredPrediction> predictions);

}  // namespace filereel
