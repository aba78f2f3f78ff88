#include "tools/cli/session.h"

#include <random>

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/terminal.h"

namespace filereel {
namespace {

[[noreturn]] void fail_to_print(int error) {
  throw_failed(fmt::format("cannot write to standard output: {}", error_text(error)));
}

// Writes data for programs. On a terminal, control characters are escaped.
int write_out(std::string_view text) {
  if (!is_terminal(STDOUT_FILENO)) return write_to(STDOUT_FILENO, text);
  return write_to(STDOUT_FILENO, printable_lines(text));
}

}  // namespace

Session::Session() {
  std::random_device random;
  style_ = fmt::format("\033{:08x}{:08x}", random(), random());
}

std::string Session::shown(std::string_view text) const {
  std::string out;
  while (true) {
    const std::size_t style = text.find(style_);
    out += printable_lines(text.substr(0, style));
    if (style == std::string_view::npos) return out;
    out += '\033';
    text.remove_prefix(style + style_.size());
  }
}

void Session::print(std::string_view text) const {
  if (const int error = write_to(STDOUT_FILENO, shown(text))) fail_to_print(error);
}

void Session::write(std::string_view text) const {
  if (const int error = write_out(text)) fail_to_print(error);
}

bool Session::pipe(std::string_view text) const {
  const int error = write_out(text);
  if (error != 0 && error != EPIPE) fail_to_print(error);
  return error == 0;
}

void Session::print_to(const std::string& path, std::string_view text) const {
  if (path == "-") {
    write(text);
    return;
  }
  AtomicFile file(path);
  file.write(text);
  if (const std::string elsewhere = file.commit(); !elsewhere.empty()) warn(elsewhere);
}

bool Session::notice(std::string_view line) const {
  return quiet || warn(line);
}

bool Session::warn(std::string_view line) const {
  return write_to(STDERR_FILENO, printable_line(line) + "\n") == 0;
}

bool Session::print_aside(std::string_view text) const {
  return quiet || write_to(STDERR_FILENO, shown(text)) == 0;
}

bool Session::draw(std::string_view text) const {
  return write_to(STDERR_FILENO, "\r\033[K" + printable_line(text)) == 0;
}

bool Session::shows_progress() const {
  return !quiet && is_terminal(STDERR_FILENO);
}

bool Session::color_on(int descriptor) const {
  const char* forbidden = getenv("NO_COLOR");  // https://no-color.org
  return !no_color && !(forbidden && *forbidden) && is_terminal(descriptor);
}

std::string Session::styled(std::string_view text, int code, int descriptor) const {
  if (!color_on(descriptor)) return std::string(text);
  return fmt::format("{0}[{1}m{2}{0}[0m", style_, code, text);
}

std::string Session::bold(std::string_view text, int descriptor) const {
  constexpr int kBold = 1;
  return styled(text, kBold, descriptor);
}

std::string Session::colored(std::string_view text, Color color, int descriptor) const {
  return styled(text, static_cast<int>(color), descriptor);
}

}  // namespace filereel
