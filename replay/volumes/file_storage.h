// The block device that a file lies on.
#pragma once

#include <string>

#include <sys/types.h>

namespace filereel {

struct FileStorage {
  dev_t device = 0;         // of a block device; 0: there is none, or it cannot be told
  std::string file_system;  // what the kernel calls it; "" if that cannot be told
  bool is_device = false;   // the file is the block device itself
};

// Of a file or directory, or of what a removed one lay in. Where the kernel shows numbers that no
// device has (btrfs, overlay, FUSE), the mount's source or its upper directory tells.
FileStorage storage_of_file(const std::string& path);

}  // namespace filereel
