// The JSON type, for headers; sources that use it include replay/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace filereel {

using Json = nlohmann::ordered_json;  // members keep their insertion order

}  // namespace filereel
