#include "filesets/system/read_file.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/units.h"

namespace filereel {

namespace {

std::optional<std::string> read_from(int file, std::size_t most) {
  constexpr std::size_t kPiece = 1 << 16;
  std::string text;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kPiece, most - before));
    const ssize_t got = ::read(file, text.data() + before, text.size() - before);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return std::nullopt;
  }
  return text;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  return read_from(file.get(), most);
}

std::uint64_t number_after(const std::string& text, std::string_view word) {
  std::istringstream lines(text);
  for (std::string key; lines >> key;
       lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::uint64_t number = 0;
    if (key == word) return lines >> number ? number : 0;
  }
  return 0;
}

std::optional<std::string> read_whole(int file, std::size_t most, std::string_view name) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return std::nullopt;
  const bool is_known = S_ISREG(info.st_mode) && std::cmp_greater(info.st_size, most);
  std::optional<std::string> text;
  if (!is_known) text = read_from(file, most + 1);
  if (is_known || (text && text->size() > most)) {
    throw_unusable(name,
                   fmt::format("is larger than {}, the limit for such a file", format_size(most)));
  }
  return text;
}

void refuse_special_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    return;
  }
  throw_unusable(path, "is a FIFO, a device or a socket; choose a regular file");
}

// Uses read(2), because streams throw if a drive lacks the page and the kernel returns EINVAL.
std::string read_sysfs(const std::string& path) {
  constexpr std::size_t kMost = 64 << 10;  // longer than any file read here
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text;
  char part[4096];
  while (file && text.size() < kMost) {
    const ssize_t got = read(file.get(), part, sizeof part);
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  const auto last = text.find_last_not_of(" \n\t");
  const auto first = text.find_first_not_of(" \n\t");
  return last == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace filereel
