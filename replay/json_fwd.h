// What JSON is called here, for headers; sources that use it include replay/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace filereel {

using Json = nlohmann::ordered_json;  // members stay in the order in which they were put

}  // namespace filereel
