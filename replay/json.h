// The only file that includes nlohmann's JSON library, whose header takes seconds to compile.
#pragma once

#include <nlohmann/json.hpp>  // IWYU pragma: export

#include "replay/json_fwd.h"  // IWYU pragma: export
