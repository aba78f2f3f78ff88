// Reads results from files.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"
#include "replay/results/result_json.h"

namespace filereel {

// "-" is standard input. Throws Error(unusable_input).
Result load_result(const std::string& path, ResultDetail detail = ResultDetail::all);

// The same in two steps, for callers that also need the file's bytes.
std::string read_result(const std::string& path);
Result load_result(const std::string& path, std::string_view text,
                   ResultDetail detail = ResultDetail::all);

}  // namespace filereel
