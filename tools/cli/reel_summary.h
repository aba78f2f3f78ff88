// Statistics of a reel, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "replay/json_fwd.h"
#include "tools/cli/session.h"
#include "traces/reel/reel_reader.h"

namespace filereel {

// Statistics of the reel; nothing if interrupted. `name` is used in the heading.
std::optional<std::string> describe_reel(ReelReader& reader, const std::string& name,
                                         Session& session);
std::optional<Json> reel_to_json(ReelReader& reader, Session& session);

// Prints a line for each operation.
void dump_reel(ReelReader& reader, const std::string& name, Session& session);

}  // namespace filereel
