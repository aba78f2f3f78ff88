// The text of --help.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace filereel {

// Formats the help of a command in 80 columns: description, usage, positionals, options and
// subcommands in the order of their definition, footer. It uses no text of CLI11's own formatter,
// which differs between its versions, so that the help is the same with each of them.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace filereel
