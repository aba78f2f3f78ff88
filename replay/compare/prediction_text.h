// Predictions as sentences, for the terminal and for the page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/compare/prediction_json.h"

namespace filereel {

// --- What takes the time of a replayed program: its own work, or which operations.

// The name of the volume that was measured, without serial numbers if they are hidden.
std::string volume_name(const Result& result, const Measurement& measurement);

struct TimeLimit {
  std::string volume, file_system;
  // Of one thread: "file operations 71 % of the time, mostly fsync (92 %); the program itself and
  // its pauses 29 %". Threads work at the same time, so of several it is "2.9 file operations in
  // progress on average, mostly fsync (92 %)"; below one, also the share of time without any. The
  // share in brackets is that in the time of all operations.
  std::string text;
};

// Of each measurement with samples, in the order of the predicted times.
std::vector<TimeLimit> time_limits(const StoredPrediction& stored);

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
std::string rank_text(const PredictedTime& predicted, const Prediction& prediction);

// The conclusion, as sentences.
std::string conclusion_text(const StoredPrediction& stored);

// What the figures mean, as sentences without the final full stop.
std::string reliability_text(const StoredPrediction& stored);

// Why the accuracy is unknown; "" if it is known.
std::string unknown_accuracy_text(const PredictedProgram& program);

// Remarks besides that, most important first, as sentences without the final full stop.
std::vector<std::string> remarks_of(const StoredPrediction& stored);

}  // namespace filereel
