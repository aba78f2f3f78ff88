// Predictions in words and as a table.
#pragma once

#include <span>
#include <string>

#include "replay/compare/prediction_json.h"
#include "tools/cli/table.h"

namespace filereel {

// The recorded time, a table of the expected ones, a conclusion, what takes the time, and the
// reliability of the figures.
std::string format_prediction(const StoredPrediction& stored, const Bold& bold);

// The warnings of the results, each once.
std::string warnings_of(std::span<const Result> results);

}  // namespace filereel
