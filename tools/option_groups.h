// The groups of options in the help of commands that have many.
#pragma once

#include <span>
#include <string_view>

namespace filereel {

struct OptionGroup {
  std::string_view title;
  std::string_view options;  // names with blanks between them, in their order in the help
};

// The groups of a command, in order; a command without groups has one list. A group may name
// options that the command lacks. The man page of the command has the same groups
// (tests/integration/man_test.py).
std::span<const OptionGroup> option_groups(std::string_view command);

}  // namespace filereel
