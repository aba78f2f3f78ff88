// Parser of the --sweep argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// "KEY=V1,V2…"; values may contain commas inside brackets.
struct SweepArgument {
  std::string key;
  std::vector<std::string> values;
};
SweepArgument parse_sweep(std::string_view text);  // throws Error(usage)

}  // namespace filereel
