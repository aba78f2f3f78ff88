// Reading a file that should be YAML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace filereel {

// The file's text, of which a byte more than kMaxYamlBytes at the most; nothing if there is no such
// file. Throws Error(failed) if it cannot be read; `what` is what should have been named.
std::optional<std::string> read_yaml_file(const std::string& path, std::string_view what);

}  // namespace filereel
