// Parses JSON from outside: results, and the output of other programs.
#pragma once

#include <string_view>

#include "replay/json_fwd.h"

namespace filereel {

// Throws Error(unusable_input) "NAME: what is wrong at which byte; WHAT_TO_DO" if `text` is not
// JSON, or has a number that no double can hold.
Json parse_json(std::string_view text, std::string_view name, std::string_view what_to_do);

// Throws this error for text that a parser has refused.
[[noreturn]] void refuse_json(std::string_view text, std::string_view name,
                              std::string_view what_to_do);

}  // namespace filereel
