#include "tools/result_file.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "filesets/error.h"
#include "filesets/read_file.h"
#include "replay/runner/result_json.h"

namespace filereel {

std::string read_result(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::optional<std::string> text = read_file(path);
  if (!text) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("cannot read '{}': {}; name a result that filereel run --json wrote",
                            path, std::strerror(errno)));
  }
  return *std::move(text);
}

Result load_result(const std::string& path, std::string_view text) {
  return result_from_json(text, path == "-" ? "standard input" : path);
}

Result load_result(const std::string& path) {
  return load_result(path, read_result(path));
}

}  // namespace filereel
