#include "filesets/system/directory_names.h"

#include <memory>
#include <string_view>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {

std::optional<std::vector<std::string>> names_in(int directory) {
  // The stream closes its descriptor. sshfs lists a directory only once each time it is opened, and
  // NFS asks the server for changes by others when it is opened. This needs search permission,
  // unlike a copy, which shares the directory offset.
  int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) own = fcntl(directory, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(own), closedir);
  if (!stream) {
    const int error = errno;
    close(own);
    errno = error;
    return std::nullopt;
  }
  rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  return names;
}

std::vector<std::string> names_at(const std::string& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory ? names_in(directory.get()).value_or(std::vector<std::string>())
                   : std::vector<std::string>();
}

}  // namespace filereel
