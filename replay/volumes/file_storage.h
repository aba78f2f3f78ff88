// Finds the block device under a file.
#pragma once

#include <string>

#include <sys/types.h>

namespace filereel {

struct FileStorage {
  dev_t device = 0;         // block device; 0: none or unknown
  std::string file_system;  // kernel name; "" if unknown
  bool is_device = false;   // the file is the block device itself
};

// For a file or directory, or for the parent of a removed one. If the kernel reports numbers
// without a device (btrfs, overlay, FUSE), the mount source or the upper directory is used.
FileStorage storage_of_file(const std::string& path);

}  // namespace filereel
