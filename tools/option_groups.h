// The groups of options in the help of commands that have many.
#pragma once

#include <string_view>
#include <vector>

namespace filereel {

struct OptionGroup {
  std::string_view title;
  std::vector<std::string_view> options;  // in their order in the help
};

// The groups of a command, in order; a command without groups has one list. A group may name
// options that the command lacks. The man page of the command has the same groups
// (tests/integration/man_test.py).
std::vector<OptionGroup> option_groups(std::string_view command);

}  // namespace filereel
