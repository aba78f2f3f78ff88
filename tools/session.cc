#include "tools/session.h"

#include <cstdio>

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filesets/atomic_file.h"
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

void Session::print_to(const std::string& path, std::string_view text) const {
  if (path == "-") {
    print(text);
    return;
  }
  AtomicFile file(path);
  file.write(text);
  file.commit();
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

std::string Session::colored(std::string_view text, Color color, int descriptor) const {
  return color_on(descriptor) ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(color), text)
                              : std::string(text);
}

}  // namespace filereel
