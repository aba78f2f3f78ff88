// Reads results from files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/prediction_json.h"
#include "replay/results/result.h"
#include "replay/results/result_json.h"

namespace filereel {

// "-" is standard input. Throws Error(unusable_input).
Result load_result(const std::string& path, ResultDetail detail = ResultDetail::all);

// A result, or those of the replays of a prediction.
std::vector<Result> load_results(const std::string& path, ResultDetail detail = ResultDetail::all);

// The prediction of a file with this text; nothing if it is none. Throws Error(unusable_input).
std::optional<StoredPrediction> load_prediction(const std::string& path, std::string_view text,
                                                ResultDetail detail = ResultDetail::all);

// The same in two steps, for callers that also need the file's bytes.
std::string read_result(const std::string& path);
Result load_result(const std::string& path, std::string_view text,
                   ResultDetail detail = ResultDetail::all);

}  // namespace filereel
