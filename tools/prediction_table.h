// Predictions in words and as a table.
#pragma once

#include <span>
#include <string>

#include "replay/compare/prediction_json.h"
#include "tools/table.h"

namespace filereel {

// The recorded time, a table of the expected ones, a conclusion, and the reliability of the
// figures.
std::string format_prediction(const PredictedProgram& program,
                              std::span<const ReplayedVolume> volumes, const Prediction& prediction,
                              const Bold& bold);

}  // namespace filereel
