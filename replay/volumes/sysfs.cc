#include "replay/volumes/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// By read(2), because streams throw where a drive has no such page and the kernel says EINVAL.
std::string read_sysfs(const std::string& path) {
  constexpr std::size_t kMost = 64 << 10;  // nothing that is asked for is longer
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
