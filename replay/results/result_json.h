// The JSON form of results (docs/result-json.md), which other programs rely on.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced.
std::string result_to_json(const Result& result);

// The members of a result that its user needs.
enum class ResultDetail {
  all,
  figures,  // without what only pages and tables of single operations show: courses, slowest ones
};

// Throws Error(unusable_input) if `text` is not a result of a supported schema version. Ignores
// unknown members. `name` is the file's name for error messages.
Result result_from_json(std::string_view text, std::string_view name,
                        ResultDetail detail = ResultDetail::all);

// One sample as in a result, on one line; for clients that send their samples to the first.
std::string sample_to_json(const Sample& sample);
// Throws Error(unusable_input) for invalid text.
Sample sample_from_json(std::string_view text);

}  // namespace filereel
