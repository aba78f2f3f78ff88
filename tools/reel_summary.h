// What is in a reel, for people and for programs.
#pragma once

#include <string>

#include "tools/session.h"

namespace filereel {

// Prints what is in the reel, as JSON if asked.
void show_reel(const std::string& path, bool json, Session& session);

// Prints a line for each operation.
void dump_reel(const std::string& path, Session& session);

}  // namespace filereel
