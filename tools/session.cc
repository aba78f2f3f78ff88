#include "tools/session.h"

#include <cstdio>

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filesets/error.h"

namespace filereel {

void Session::print(std::string_view text) const {
  if (fwrite(text.data(), 1, text.size(), stdout) != text.size() || fflush(stdout) != 0) {
    throw Error(ErrorKind::failed,
                fmt::format("cannot write to standard output: {}", strerror(errno)));
  }
}

bool Session::pipe(std::string_view text) const {
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0)
    return true;
  if (errno == EPIPE) return false;
  throw Error(ErrorKind::failed,
              fmt::format("cannot write to standard output: {}", strerror(errno)));
}

void Session::notice(std::string_view text) const {
  if (!quiet) fmt::print(stderr, "{}\n", text);
}

bool Session::shows_progress() const {
  return !quiet && isatty(STDERR_FILENO) != 0;
}

bool Session::color_on(int descriptor) const {
  const char* forbidden = getenv("NO_COLOR");  // https://no-color.org
  return !no_color && !(forbidden && *forbidden) && isatty(descriptor) != 0;
}

std::string Session::bold(std::string_view text, int descriptor) const {
  return color_on(descriptor) ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

}  // namespace filereel
