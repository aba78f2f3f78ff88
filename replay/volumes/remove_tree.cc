#include "replay/volumes/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/descriptor.h"
#include "filesets/error.h"
#include "filesets/scan/directory_names.h"

namespace filereel {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(ErrorKind::failed,
              fmt::format("cannot remove {}: {}; remove it by hand", path, strerror(error)));
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
    const auto children = names_in(directory.get());
    if (!children) fail(path, errno);
    for (const std::string& child : *children) {
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
