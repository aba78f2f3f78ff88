// How this folder works: these few files are for all folders of the layer that read or write JSON.
// json_fwd.h declares the type, parse_json.h parses text from outside with messages for users. The
// rest of the layer, from volumes to reports, is described in docs/architecture.md. Start with
// parse_json.h.
//
// The only file that includes nlohmann's JSON library, whose header takes seconds to compile.
#pragma once

#include <nlohmann/json.hpp>  // IWYU pragma: export

#include "replay/json_fwd.h"  // IWYU pragma: export
