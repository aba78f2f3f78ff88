// The argument of --sweep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// "KEY=V1,V2…", whose values may hold commas within brackets.
struct SweepArgument {
  std::string key;
  std::vector<std::string> values;
};
SweepArgument parse_sweep(std::string_view text);  // throws Error(usage)

}  // namespace filereel
