#include "replay/volumes/file_storage.h"

#include <optional>

#include <boost/filesystem/path.hpp>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filesets/system/mount_info.h"

namespace filereel {
namespace {

// Limit for nested overlays and FUSE on images.
constexpr int kMostHops = 8;

dev_t device_of(const std::string& path, int hops) {
  struct stat info{};
  if (hops == 0 || stat(path.c_str(), &info) != 0) return 0;
  if (S_ISBLK(info.st_mode)) return info.st_rdev;
  if (major(info.st_dev) != 0) return info.st_dev;
  const std::optional<MountedFileSystem> mounted = mounted_at(path);
  if (!mounted) return 0;
  if (mounted->type == "overlay")
    return device_of(mount_option(mounted->options, "upperdir"), hops - 1);
  // The source of a network file system is not a local path.
  const bool local = mounted->type == "btrfs" || mounted->type.starts_with("fuse");
  return local && mounted->source.starts_with('/') ? device_of(mounted->source, hops - 1) : 0;
}

}  // namespace

FileStorage storage_of_file(const std::string& path) {
  struct stat info{};
  std::string there = path;
  // The kernel's name for the removed file of a loop device: "/x/a.img (deleted)".
  if (stat(there.c_str(), &info) != 0) there = boost::filesystem::path(path).parent_path().string();
  if (there.empty() || stat(there.c_str(), &info) != 0) return {};
  FileStorage storage;
  storage.device = device_of(there, kMostHops);
  storage.is_device = S_ISBLK(info.st_mode);
  if (const auto mounted = mounted_at(there)) storage.file_system = mounted->type;
  return storage;
}

}  // namespace filereel
