#include "filesets/scan/open_beneath.h"

#include <cstdint>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filereel {

Descriptor open_directory_beneath(int root, const std::string& path, int flags,
                                  MountPoints mount_points) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_DIRECTORY | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (mount_points == MountPoints::refuse) how.resolve |= RESOLVE_NO_XDEV;
  const char* const name = path.empty() ? "." : path.c_str();
  return Descriptor(static_cast<int>(syscall(SYS_openat2, root, name, &how, sizeof how)));
}

}  // namespace filereel
