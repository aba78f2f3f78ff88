// What is mounted, read from the kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace filereel {

// A line of /proc/self/mountinfo.
struct MountedFileSystem {
  dev_t device = 0;
  std::string root;  // what of the file system is mounted; "/": all of it
  std::string mount_point;
  std::string type;     // "ext4", "fuseblk", "fuse.fusefat"
  std::string source;   // "/dev/sda1"
  std::string options;  // of the mount and of the file system
};

std::vector<MountedFileSystem> mounted_file_systems();

// What is mounted where `path` lies; nothing if that cannot be told.
std::optional<MountedFileSystem> mounted_at(const std::string& path);

}  // namespace filereel
