// Predictions as sentences, for the terminal and for the page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/compare/prediction_json.h"

namespace filereel {

// The label, otherwise "git clone project", of a long command line only the program, otherwise the
// name of the reel; made printable and shortened.
std::string program_name(const PredictedProgram& program);

// Those of several predictions, each different: those of one program are told apart by their reels,
// otherwise by numbers.
std::vector<std::string> program_names(std::span<const StoredPrediction> predictions);

// "/mnt/a (ext4)".
std::string volume_text(const ReplayedVolume& volume);

// "719 ms to 912 ms".
// The name of the intervals of a prediction.
std::string_view interval_name(const Prediction& prediction);

std::string range_text(const Interval& interval);

// Like that of ranking.h.
std::string rank_text(const PredictedTime& time, const Prediction& prediction);

// The conclusion, as sentences.
std::string conclusion_text(const StoredPrediction& stored);

// What the figures mean, as sentences without the final full stop.
std::string reliability_text(const StoredPrediction& stored);

// Why the accuracy is unknown; "" if it is known.
std::string unknown_accuracy_text(const PredictedProgram& program);

// Remarks besides that, most important first, as sentences without the final full stop.
std::vector<std::string> remarks_of(const StoredPrediction& stored);

}  // namespace filereel
