#include "tools/sweep_argument.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"

namespace filereel {

SweepArgument parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  SweepArgument sweep{std::string(text.substr(0, equals)), {}};
  std::string value;
  const auto add = [&] {
    const std::size_t begin = value.find_first_not_of(' ');
    const std::size_t end = value.find_last_not_of(' ') + 1;
    sweep.values.push_back(begin == std::string::npos ? "" : value.substr(begin, end - begin));
    value.clear();
  };
  if (equals != std::string_view::npos) {
    int depth = 0;
    for (const char c : text.substr(equals + 1)) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == ',' && depth == 0) {
        add();
      } else {
        value += c;
      }
    }
    add();
  }
  const bool empty = std::ranges::any_of(sweep.values, &std::string::empty);
  if (!sweep.key.empty() && !sweep.values.empty() && !empty) return sweep;
  throw Error(ErrorKind::usage,
              fmt::format("--sweep {}: expected a key and its values, such as depth=1,4,16", text));
}

}  // namespace filereel
