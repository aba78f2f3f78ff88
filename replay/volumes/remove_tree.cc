#include "replay/volumes/remove_tree.h"

#include <memory>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/descriptor.h"
#include "filesets/error.h"

namespace filereel {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(ErrorKind::failed,
              fmt::format("cannot remove {}: {}; remove it by hand", path, strerror(error)));
}

std::vector<std::string> names_in(int directory, const std::string& path) {
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (!stream) fail(path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void remove_entry(int parent, const std::string& name, const std::string& path, dev_t device) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return;
  // A directory: EISDIR, or EPERM as POSIX and some FUSE drivers have it.
  if (errno != EISDIR && errno != EPERM) fail(path, errno);
  {
    const Descriptor directory(
        openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!directory || fstat(directory.get(), &info) != 0) fail(path, errno);
    if (info.st_dev != device) fail(path, EXDEV);
    for (const std::string& child : names_in(directory.get(), path)) {
      remove_entry(directory.get(), child, path + "/" + child, device);
    }
  }
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) fail(path, errno);
}

}  // namespace

void remove_tree(int parent, const std::string& name) {
  struct stat info{};
  if (fstat(parent, &info) != 0) fail(name, errno);
  remove_entry(parent, name, name, info.st_dev);
}

}  // namespace filereel
