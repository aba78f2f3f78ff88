// The file systems that filereel can make: what they are called, made with, mounted by, and what
// they cannot hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

enum class FileSystemKind : std::uint8_t { ext4, ntfs, fat32, exfat, xfs, btrfs };

// What a file system can hold. Sizes in bytes.
struct FileSystemLimits {
  std::uint64_t largest_file = INT64_MAX;
  std::uint64_t cluster = 4096;       // files take whole clusters
  std::uint64_t bytes_per_inode = 0;  // the number of files is fixed when it is made; 0: it is not
  bool windows_names = false;  // names that Windows refuses are escaped, cases are not told apart
  bool ascii_names = false;    // the driver takes no others
  bool links = true;           // symbolic and hard ones
  bool holes = true;
  bool lists_label = false;  // the driver shows kVolumeLabel as a file of the root
};

struct FileSystemInfo {
  FileSystemKind kind;
  std::string_view name;         // on the command line and in results
  std::string_view kernel_type;  // for mount(2) and in /proc/filesystems
  std::string_view make_program, make_package;
  std::string_view fuse_program, fuse_package;  // empty: none
  std::uint64_t least_size;                     // of a volume that its mkfs accepts
  FileSystemLimits limits;
  bool fuse_needs_device = false;  // its FUSE program takes no image file, or none without a name
};

std::span<const FileSystemInfo> file_systems();
const FileSystemInfo& file_system_info(FileSystemKind kind);

// Throws Error(usage) that names the kinds there are.
FileSystemKind parse_file_system(std::string_view name);
std::vector<FileSystemKind> parse_file_systems(std::span<const std::string> names);

// The limits behind a name in /proc/mounts ("vfat", "fuse.fusefat", "fuseblk"); those of a POSIX
// file system for a name that is not known.
FileSystemLimits limits_of_mounted(std::string_view type);

// Which software serves a file system.
struct Driver {
  bool kernel = true;
  std::string name;  // the kernel's name for it, or the FUSE program
};

// Command line that makes the file system `kind` on `device` of `size` bytes. `is_device`: a real
// device, which may be discarded first and so starts as fresh as it can be.
std::vector<std::string> make_command(FileSystemKind kind, const std::string& device,
                                      std::uint64_t size, bool is_device);

// Command line of the FUSE program that serves `source` at `mount_point`, in the foreground.
std::vector<std::string> fuse_command(FileSystemKind kind, const std::string& source,
                                      const std::string& mount_point);

// The options given with mount(2); "" for the driver's own defaults.
std::string_view kernel_mount_options(FileSystemKind kind);

// Bytes that FAT32 gathers in a cluster on a volume of `size` bytes: mkfs.fat's own defaults.
std::uint64_t fat32_cluster(std::uint64_t size);

// The label that filereel gives to what it formats. It proves nothing.
inline constexpr std::string_view kVolumeLabel = "FILEREEL";

}  // namespace filereel
