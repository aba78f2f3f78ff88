// The file systems that filereel can format: names, programs and drivers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/mount_info.h"
#include "replay/volumes/file_system_limits.h"

namespace filereel {

enum class FileSystemKind : std::uint8_t { ext4, ntfs, fat32, exfat, xfs, btrfs };

struct FileSystemInfo {
  FileSystemKind kind;
  std::string_view name;         // on the command line and in results
  std::string_view kernel_type;  // for mount(2) and in /proc/filesystems
  // filesets/system/packages.h has their packages.
  std::string_view make_program;
  std::string_view fuse_program;   // empty: none
  std::uint64_t min_volume_size;   // smallest volume accepted by mkfs
  FileSystemLimits limits;         // with the kernel's driver
  bool fuse_needs_device = false;  // its FUSE program does not accept unnamed image files
};

std::span<const FileSystemInfo> file_systems();
const FileSystemInfo& file_system_info(FileSystemKind kind);

// Throws Error(usage) with the known names.
FileSystemKind parse_file_system(std::string_view name);
std::vector<FileSystemKind> parse_file_systems(std::span<const std::string> names);

// The limits on a volume of `size` bytes with default settings: small volumes have small clusters.
FileSystemLimits limits_of_formatted(FileSystemKind kind, std::uint64_t size);

// Throws Error(failed) if a volume of `size` bytes is too small. `volume` is its name.
void check_volume_size(FileSystemKind kind, std::uint64_t size, const std::string& volume);

// The most bytes of files that a freshly formatted volume of `size` bytes can hold: all except the
// least that mkfs and the driver keep for themselves, with default settings.
std::uint64_t most_bytes(FileSystemKind kind, std::uint64_t size);

// The most files and directories that a freshly formatted volume of `size` bytes can hold; nothing
// if mkfs does not limit their number.
std::optional<std::uint64_t> most_entries(FileSystemKind kind, std::uint64_t size);

// The limits on a mounted file system with blocks of `block_size` bytes.
FileSystemLimits limits_of_mount(const MountedFileSystem& mounted, std::uint64_t block_size = 4096);

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
