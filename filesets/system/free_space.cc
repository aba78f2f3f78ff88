#include "filesets/system/free_space.h"

#include <array>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "filesets/system/limits.h"
#include "filesets/system/path_kind.h"
#include "filesets/system/remote_mounts.h"
#include "filesets/system/search.h"

namespace filereel {

bool may_hide_full_volume(int error) {
  // sshfs says EPERM for every failure of the server without an error number, EEXIST for that of
  // mkdir.
  constexpr std::array kErrors = {EIO, EPERM, EEXIST, EREMOTEIO};
  return contains(kErrors, error);
}

bool is_full_share(int file) {
  constexpr std::uint64_t kFull = 1 << 20;
  struct statvfs space{};
  return fstatvfs(file, &space) == 0 && space.f_blocks > 0 &&
         std::uint64_t{space.f_bavail} * space.f_frsize < kFull &&
         RemoteMounts().on_way_to(link_text(fmt::format("/proc/self/fd/{}", file))).has_value();
}

std::string write_error_text(int error, int file) {
  std::string text = error_text(error);
  if (may_hide_full_volume(error) && is_full_share(file)) text += kNoSpaceLeft;
  return text;
}

}  // namespace filereel
