// What the system's loader says about a library, in words for messages.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// `loader_text`: "libmpi.so.40: cannot open shared object file: No such file or directory".
inline std::string missing_library(std::string_view loader_text) {
  const std::string_view library = loader_text.substr(0, loader_text.find(':'));
  const bool is_name = library.contains(".so") && !library.contains(' ');
  return std::string(is_name ? library : "its library") + " is missing or of another version";
}

}  // namespace filereel
