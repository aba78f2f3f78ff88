#include "tools/cli/result_file.h"

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

std::optional<StoredPrediction> load_prediction(const std::string& path, std::string_view text,
                                                ResultDetail detail) {
  if (!is_prediction(text)) return std::nullopt;
  return within_memory(fmt::format("the prediction '{}'", printable(name_of(path))),
                       [&] { return prediction_from_json(text, name_of(path), detail); });
}

std::vector<Result> load_results(const std::string& path, ResultDetail detail) {
  const std::string text = read_result(path);
  if (auto stored = load_prediction(path, text, detail)) return std::move(stored->results);
  std::vector<Result> results;
  results.push_back(load_result(path, text, detail));
  return results;
}

Result load_result(const std::string& path, std::string_view text, ResultDetail detail) {
  if (is_prediction(text)) {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("{}: a prediction, not a result: name a result of `filereel run --json` "
                    "or `filereel replay --json`",
                    name_of(path)));
  }
  return result_from_json(text, name_of(path), detail);
}

Result load_result(const std::string& path, ResultDetail detail) {
  return load_result(path, read_result(path), detail);
}

}  // namespace filereel
