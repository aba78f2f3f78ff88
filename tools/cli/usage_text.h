// Help, and messages about an invalid command line, in place of CLI11's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/cli/commands.h"

namespace filereel {

// --- The groups of options in the help of commands that have many.

struct OptionGroup {
  std::string_view title;
  std::vector<std::string_view> options;  // in their order in the help
};

// The groups of a command, in order; a command without groups has one list. A group may name
// options that the command lacks. The man page of the command has the same groups
// (tests/integration/man_test.py).
std::vector<OptionGroup> option_groups(std::string_view command);

// --- The text of --help.

// Formats the help of a command in 80 columns: description, usage, positionals, options and
// subcommands in the order of their definition, footer. It uses no text of CLI11's own formatter,
// which differs between its versions, so that the help is the same with each of them.
std::shared_ptr<CLI::FormatterBase> help_formatter();

// --- Messages about an invalid command line, in place of CLI11's.

// Throws Error(usage) if the first argument is neither an option nor a command.
void check_command(const CLI::App& app, std::string_view word);

// What is wrong with the arguments, the command whose help to see, and the nearest word that would
// be right.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace filereel
