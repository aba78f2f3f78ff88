#include "filesets/specification/yaml_file.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/read_file.h"

namespace filereel {

std::optional<std::string> read_yaml_file(const std::string& path, std::string_view what) {
  std::optional<std::string> text = read_file(path, kMaxYamlBytes + 1);
  if (!text && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: cannot read: {}", path,
                            error_text(errno, fmt::format("choose a YAML file with {}", what))));
  }
  return text;
}

}  // namespace filereel
