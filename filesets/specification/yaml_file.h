// Reads YAML files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace filereel {

// Returns at most kMaxYamlBytes + 1 bytes of the file, or nothing if the file does not exist.
// Throws Error(failed) if it cannot be read; `what` describes the expected content.
std::optional<std::string> read_yaml_file(const std::string& path, std::string_view what);

}  // namespace filereel
