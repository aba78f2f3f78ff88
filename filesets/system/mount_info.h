// Mounted file systems, read from the kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace filereel {

// A line of /proc/self/mountinfo.
struct MountedFileSystem {
  dev_t device = 0;
  std::string root;  // mounted subtree of the file system; "/": all of it
  std::string mount_point;
  std::string type;     // "ext4", "fuseblk", "fuse.fusefat"
  std::string source;   // "/dev/sda1"
  std::string options;  // of the mount and of the file system
};

// `line` is one of mountinfo; nothing if it is invalid.
std::optional<MountedFileSystem> parse_mount(const std::string& line);

std::vector<MountedFileSystem> mounted_file_systems();

// The number of a mounted FUSE file system in /sys/fs/fuse/connections.
unsigned fuse_connection(const MountedFileSystem& mounted);

// Each option once: "rw,relatime" of "rw,relatime,rw", which the kernel reports for the mount and
// for the file system.
std::string distinct_options(const std::string& options);

// The value of an option: "tcp" of "rw,vers=4.2,proto=tcp" for "proto"; "" if it is missing.
std::string mount_option(const std::string& options, const std::string& name);

// `path`, or the nearest directory above it that exists.
std::string existing_path(const std::string& path);

// Returns the mount that contains `path`; nothing if unknown.
std::optional<MountedFileSystem> mounted_at(const std::string& path);

}  // namespace filereel
