#include "filesets/system/free_space.h"

#include <array>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

#include "filesets/system/limits.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
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

bool has_project_quota(int directory) {
  fsxattr attributes{};
  if (ioctl(directory, FS_IOC_FSGETXATTR, &attributes) != 0 || attributes.fsx_projid == 0) {
    return false;
  }
  const auto mounted = mounted_at(path_of_directory(directory, ""));
  struct statvfs here{}, all{};
  return mounted && fstatvfs(directory, &here) == 0 &&
         statvfs(mounted->mount_point.c_str(), &all) == 0 && here.f_blocks < all.f_blocks;
}

std::string with_quota_advice(bool has_quota, const std::string& advice) {
  return has_quota ? "a project quota limits it: raise the quota, or " + advice : advice;
}

std::string with_quota_advice_of(int directory, const std::string& advice) {
  return with_quota_advice(has_project_quota(directory), advice);
}

}  // namespace filereel
