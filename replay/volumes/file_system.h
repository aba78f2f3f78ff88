// The file systems that filereel can format: names, programs, drivers and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/mounts.h"

namespace filereel {

// --- The limits of file systems: one table with a row for each driver, because two drivers of one
// format differ. docs/file-systems.md has the same table; tests compare it with this one and try
// each limit on real file systems.

// The entries of 32 bytes that names take in a directory.
struct DirectorySlots {
  std::uint32_t most = 0;    // of a directory; 0: no limit
  std::uint32_t fixed = 0;   // of each name, next to those of its characters
  std::uint32_t units = 1;   // UTF-16 units of a name in one slot
  bool short_names = false;  // a name such as "README.TXT" takes one slot only
  bool operator==(const DirectorySlots&) const = default;
};

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
  bool windows_names = false;  // escapes names and link texts invalid on Windows; case-insensitive
  bool ascii_names = false;    // the driver supports no others
  bool links = true;           // symbolic and hard links
  bool holes = true;
  bool lists_label = false;                 // the driver lists kVolumeLabel as a file in the root
  std::uint32_t names_of_file = INT32_MAX;  // hard links
  std::uint32_t link_text = 4095;           // of a symbolic link: PATH_MAX with the null byte
  DirectorySlots slots = {};
  std::uint32_t xattr_value = 65536;  // of an attribute with a short name; 0: no attributes
  // Modification times in seconds since 1970. Others are changed silently.
  std::int64_t earliest_s = INT64_MIN, latest_s = INT64_MAX;
  std::uint32_t time_unit_ns = 1;  // times are rounded down to multiples
  // Names that exist in the root without being listed, in upper case.
  std::span<const std::string_view> root_names = {};
};

struct DriverLimits {
  std::string_view driver;  // kernel type or FUSE program, as in Driver; "others" is the last one
  FileSystemLimits limits;
};

std::span<const DriverLimits> driver_limits();

// The limits of a driver; those of "others" for an unknown one.
const FileSystemLimits& limits_of_driver(std::string_view driver);

// The limits for a type in /proc/mounts ("vfat", "fuse.fusefat", "fuseblk"), with blocks of
// `block_size` bytes; those of "others" for an unknown type.
FileSystemLimits limits_of_mounted(std::string_view type, std::uint64_t block_size = 4096);

// Whether a time can be stored, except for its fraction of a unit.
constexpr bool holds_time(const FileSystemLimits& limits, std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = ns / kSecond - (ns % kSecond < 0 ? 1 : 0);
  return seconds >= limits.earliest_s && seconds <= limits.latest_s;
}

// The strictest limits of all: of a tree that is the same on several volumes.
FileSystemLimits strictest(std::span<const FileSystemLimits> all);

// --- The file systems that filereel can format: names, programs and drivers.

enum class FileSystemKind : std::uint8_t { ext4, ntfs, fat32, exfat, xfs, btrfs };

struct FileSystemInfo {
  FileSystemKind kind;
  std::string_view name;         // on the command line and in results
  std::string_view kernel_type;  // for mount(2) and in /proc/filesystems
  // filesets/system/programs.h has their packages.
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

// Cluster size in bytes of FAT32 on a volume of `size` bytes: the defaults of mkfs.fat.
std::uint64_t fat32_cluster(std::uint64_t size);

// The label of volumes that filereel formats. It does not prove ownership.
inline constexpr std::string_view kVolumeLabel = "FILEREEL";

}  // namespace filereel
