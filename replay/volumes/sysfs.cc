#include "replay/volumes/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {

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
