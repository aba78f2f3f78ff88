#include "tools/result_file.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/memory.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "replay/results/result_limits.h"

namespace filereel {

namespace {

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

}  // namespace

std::string read_result(const std::string& path) {
  Descriptor file;
  if (path != "-") file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::optional<std::string> text;
  if (path == "-" || file) {
    text = within_memory(fmt::format("the result '{}'", printable(name_of(path))), [&] {
      return read_whole(file ? file.get() : STDIN_FILENO, kMostResultBytes, name_of(path));
    });
  }
  if (!text) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("cannot read '{}': {}", path,
                            error_text(errno, "name a result written by filereel run --json")));
  }
  return *std::move(text);
}

Result load_result(const std::string& path, std::string_view text, ResultDetail detail) {
  return result_from_json(text, name_of(path), detail);
}

Result load_result(const std::string& path, ResultDetail detail) {
  return load_result(path, read_result(path), detail);
}

}  // namespace filereel
