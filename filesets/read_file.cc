#include "filesets/read_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "filesets/descriptor.h"

namespace filereel {

std::optional<std::string> read_file(const std::string& path, std::size_t most) {
  constexpr std::size_t kPiece = 1 << 16;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kPiece, most - before));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return std::nullopt;
  }
  return text;
}

}  // namespace filereel
