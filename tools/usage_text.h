// Messages about an invalid command line, in place of CLI11's.
#pragma once

#include <string>
#include <string_view>

#include "tools/commands.h"

namespace filereel {

// Throws Error(usage) if the first argument is neither an option nor a command.
void check_command(const CLI::App& app, std::string_view word);

// What is wrong with the arguments, the command whose help to see, and the nearest word that would
// be right.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace filereel
