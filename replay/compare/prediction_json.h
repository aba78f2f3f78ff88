// The JSON form of predictions (docs/replay.md), which other programs rely on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/prediction.h"
#include "replay/results/result.h"
#include "replay/results/result_json.h"

namespace filereel {

// What a prediction is of.
struct PredictedProgram {
  std::string reel;                            // its name as given
  std::string command = {};                    // "" if unknown
  std::string label = {};                      // its name for people; "" for the command
  double recorded_s = 0;                       // time where it was recorded
  std::uint64_t threads = 0;                   // with operations; 0: unknown
  std::string unknown_accuracy = {};           // why that of its replays is; "" if known
  std::vector<std::string> remarks = {};       // on the recording
  bool running = false;                        // before the recording: it is a part
  std::optional<GroupedCommits> commits = {};  // if there are any
};

// A prediction with everything it is made from.
struct StoredPrediction {
  PredictedProgram program;
  std::vector<ReplayedVolume> volumes = {};
  Prediction prediction = {};
  std::vector<Result> results = {};  // of the replays
};

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced.
std::string prediction_to_json(const StoredPrediction& stored);

// Whether the text is JSON of a prediction, as far as its first members tell; it may be invalid.
bool is_prediction(std::string_view text);

// Throws Error(unusable_input). `name`: the file's name for error messages. The volumes have the
// order of the ranks.
StoredPrediction prediction_from_json(std::string_view text, std::string_view name,
                                      ResultDetail detail = ResultDetail::all);

}  // namespace filereel
