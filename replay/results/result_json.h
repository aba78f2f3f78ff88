// The JSON form of results (docs/result-json.md), which other programs rely on.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced.
std::string result_to_json(const Result& result);

// Throws Error(unusable_input) if `text` is not a result of a supported schema version. Ignores
// unknown members. `name` is the file's name for error messages.
Result result_from_json(std::string_view text, std::string_view name);

}  // namespace filereel
