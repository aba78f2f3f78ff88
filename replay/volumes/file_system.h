// The file systems that filereel can format: names, programs, drivers and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

enum class FileSystemKind : std::uint8_t { ext4, ntfs, fat32, exfat, xfs, btrfs };

// Limits of a file system. Sizes in bytes.
struct FileSystemLimits {
  std::uint64_t largest_file = INT64_MAX;
  std::uint64_t cluster = 4096;       // allocation unit of files
  std::uint64_t bytes_per_inode = 0;  // inode count fixed by mkfs; 0: not fixed
  // The least space that entries can take, for refusals before anything is created. Of ext4, xfs
  // and btrfs measured with 20,000 files on fresh volumes and rounded down; of the others the size
  // of a record in their format.
  std::uint64_t entry_bytes = 0;      // for inode and name, outside of clusters
  std::uint64_t inline_bytes = 4095;  // files up to this size may take no cluster of their own
  bool directory_clusters = false;    // each directory takes a cluster
  bool windows_names = false;         // escapes names invalid on Windows; case-insensitive
  bool ascii_names = false;           // the driver supports no others
  bool links = true;                  // symbolic and hard links
  bool holes = true;
  bool lists_label = false;  // the driver lists kVolumeLabel as a file in the root
};

struct FileSystemInfo {
  FileSystemKind kind;
  std::string_view name;         // on the command line and in results
  std::string_view kernel_type;  // for mount(2) and in /proc/filesystems
  // filesets/system/packages.h has their packages.
  std::string_view make_program;
  std::string_view fuse_program;  // empty: none
  std::uint64_t min_volume_size;  // smallest volume accepted by mkfs
  FileSystemLimits limits;
  bool fuse_needs_device = false;  // its FUSE program does not accept unnamed image files
};

std::span<const FileSystemInfo> file_systems();
const FileSystemInfo& file_system_info(FileSystemKind kind);

// Throws Error(usage) with the known names.
FileSystemKind parse_file_system(std::string_view name);
std::vector<FileSystemKind> parse_file_systems(std::span<const std::string> names);

// The limits on a volume of `size` bytes with default settings: small volumes have small clusters.
FileSystemLimits limits_of_formatted(FileSystemKind kind, std::uint64_t size);

// The most files and directories that a freshly formatted volume of `size` bytes can hold; nothing
// if mkfs does not limit their number.
std::optional<std::uint64_t> most_entries(FileSystemKind kind, std::uint64_t size);

// The limits for a type in /proc/mounts ("vfat", "fuse.fusefat", "fuseblk"); those of a POSIX file
// system for an unknown type.
FileSystemLimits limits_of_mounted(std::string_view type);

// The driver of a file system.
struct Driver {
  bool kernel = true;
  std::string name;  // kernel type or FUSE program
};

// Command line that formats `device` of `size` bytes as `kind`. `is_device`: a real device, which
// may be discarded first to start as fresh as possible.
std::vector<std::string> make_command(FileSystemKind kind, const std::string& device,
                                      std::uint64_t size, bool is_device);

// Command lines of the FUSE program that serves `source` at `mount_point`, in the foreground. Not
// all versions of a program accept the same options: the first that it accepts is to be used.
std::vector<std::vector<std::string>> fuse_commands(FileSystemKind kind, const std::string& source,
                                                    const std::string& mount_point);

// Options for mount(2); "" for the driver's defaults.
std::string_view kernel_mount_options(FileSystemKind kind);

// Cluster size in bytes of FAT32 on a volume of `size` bytes: the defaults of mkfs.fat.
std::uint64_t fat32_cluster(std::uint64_t size);

// The label of volumes that filereel formats. It does not prove ownership.
inline constexpr std::string_view kVolumeLabel = "FILEREEL";

}  // namespace filereel
