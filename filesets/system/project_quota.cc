#include "filesets/system/project_quota.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

#include "filesets/system/directory_path.h"
#include "filesets/system/mount_info.h"

namespace filereel {

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
