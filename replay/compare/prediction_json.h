// The JSON form of predictions (docs/replay.md), which other programs rely on.
#pragma once

#include <span>
#include <string>

#include "replay/compare/prediction.h"
#include "replay/results/result.h"

namespace filereel {

// What a prediction is of.
struct PredictedProgram {
  std::string reel;                   // its name as given
  std::string command = {};           // "" if unknown
  double recorded_s = 0;              // time where it was recorded
  std::string unknown_accuracy = {};  // why that of its replays is; "" if known
};

// With the results of the replays. Pretty-printed, ends with a newline. Invalid UTF-8 in names is
// replaced.
std::string prediction_to_json(const PredictedProgram& program,
                               std::span<const ReplayedVolume> volumes,
                               const Prediction& prediction, std::span<const Result> results);

}  // namespace filereel
