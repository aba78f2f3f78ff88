// What is in a reel, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include "replay/json_fwd.h"
#include "tools/session.h"
#include "traces/reel/reel_reader.h"

namespace filereel {

// What is in the reel; nothing if that was interrupted. `name` stands in the heading.
std::optional<std::string> describe_reel(ReelReader& reader, const std::string& name,
                                         Session& session);
std::optional<Json> reel_to_json(ReelReader& reader, Session& session);

// Prints a line for each operation.
void dump_reel(ReelReader& reader, const std::string& name, Session& session);

}  // namespace filereel
