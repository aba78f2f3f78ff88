// What is wrong with a YAML document, in the words of those who write YAML.
#pragma once

#include <string_view>

namespace filereel {

// `message`: of an exception of yaml-cpp, which has no codes.
std::string_view why_invalid_yaml(std::string_view message);

}  // namespace filereel
