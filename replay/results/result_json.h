// The JSON form of results (docs/result-json.md), which other programs rely on.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// Pretty-printed, ends with a newline. Names that are not UTF-8 lose the bytes that are not.
std::string result_to_json(const Result& result);

// Throws Error(unusable_input) when `text` is not a result of a schema version up to ours; unknown
// members are passed over. `name` stands for the file in the error's text.
Result result_from_json(std::string_view text, std::string_view name);

}  // namespace filereel
