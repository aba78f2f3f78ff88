// Parses JSON text.
#pragma once

#include <optional>
#include <string_view>

#include "replay/results/json_members.h"

namespace filereel {

// Fills `root` from the text, which must not exceed exceeded_json_limit. Of two members with the
// same name the last one counts. Returns the first mismatch of a value and the type of its place;
// the other values are filled nevertheless. Throws nlohmann's exceptions for text that is not JSON,
// and SchemaError for zero bytes and exponents that only nlohmann's parser accepts.
std::optional<SchemaError> read_json(std::string_view text, JsonPlace root);

}  // namespace filereel
