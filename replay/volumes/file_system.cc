#include "replay/volumes/file_system.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/counted.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kGiB = 1 << 30;

// mke2fs.conf(5): on volumes smaller than this, mkfs.ext4 makes an inode for these bytes.
constexpr std::uint64_t kSmallExt4 = 512 * kMiB, kInodeOfSmallExt4 = 4096;

std::span<const FileSystemInfo, 6> table() {
  static const std::array<FileSystemInfo, 6> kFileSystems = {{
      {FileSystemKind::ext4, "ext4", "ext4", "mkfs.ext4", "fuse2fs", 16 * kMiB,
       limits_of_driver("ext4")},
      {FileSystemKind::ntfs, "ntfs", "ntfs3", "mkfs.ntfs", "ntfs-3g", 16 * kMiB,
       limits_of_driver("ntfs3"), true},
      {FileSystemKind::fat32, "fat32", "vfat", "mkfs.vfat", "fusefat", 40 * kMiB,
       limits_of_driver("vfat")},
      {FileSystemKind::exfat, "exfat", "exfat", "mkfs.exfat", "mount.exfat-fuse", 16 * kMiB,
       limits_of_driver("exfat"), true},
      {FileSystemKind::xfs, "xfs", "xfs", "mkfs.xfs", "", 320 * kMiB, limits_of_driver("xfs")},
      {FileSystemKind::btrfs, "btrfs", "btrfs", "mkfs.btrfs", "", 256 * kMiB,
       limits_of_driver("btrfs")},
  }};
  return kFileSystems;
}

// The boot sector says so, to those who may read the device.
bool is_exfat(const std::string& device) {
  const Descriptor opened(open(device.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 11> start{};
  constexpr std::string_view kName = "EXFAT   ";
  return opened &&
         pread(opened.get(), start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()).ends_with(kName);
}

}  // namespace

std::span<const FileSystemInfo> file_systems() {
  return table();
}

const FileSystemInfo& file_system_info(FileSystemKind kind) {
  return table()[static_cast<std::size_t>(kind)];
}

FileSystemKind parse_file_system(std::string_view name) {
  for (const FileSystemInfo& info : table()) {
    if (info.name == name) return info.kind;
  }
  throw Error(ErrorKind::usage, fmt::format("unknown file system '{}'{}", printable(name),
                                            use_one_of(name, names_of_all(table()))));
}

std::vector<FileSystemKind> parse_file_systems(std::span<const std::string> names) {
  std::vector<FileSystemKind> kinds;
  for (const std::string& name : names) kinds.push_back(parse_file_system(name));
  return kinds;
}

FileSystemLimits limits_of_formatted(FileSystemKind kind, std::uint64_t size) {
  constexpr std::uint64_t kSmallExfat = 256 * kMiB;
  FileSystemLimits limits = file_system_info(kind).limits;
  if (kind == FileSystemKind::fat32) limits.cluster = fat32_cluster(size);
  if (kind == FileSystemKind::exfat && size <= kSmallExfat) limits.cluster = 4096;
  return limits;
}

void check_volume_size(FileSystemKind kind, std::uint64_t size, const std::string& volume) {
  const FileSystemInfo& info = file_system_info(kind);
  if (size >= info.min_volume_size) return;
  throw Error(ErrorKind::failed,
              fmt::format("{} is too small for {}, which needs at least {}", volume, info.name,
                          counted(info.min_volume_size, "byte")));
}

std::uint64_t most_bytes(FileSystemKind kind, std::uint64_t size) {
  const std::uint64_t cluster = limits_of_formatted(kind, size).cluster;
  std::uint64_t own = 0;
  switch (kind) {
    case FileSystemKind::ext4: {
      // Inodes of 256 bytes, the journal (mke2fs(8)), 5 % for root, and 2 % up to 16 MiB that the
      // kernel keeps for delayed allocation.
      constexpr std::uint64_t kInode = 256;
      const std::uint64_t inodes = size / (size < kSmallExt4 ? kInodeOfSmallExt4 : 16 << 10);
      const std::uint64_t journal = size < 128 * kMiB ? 4 * kMiB
                                    : size < kGiB     ? 16 * kMiB
                                    : size < 2 * kGiB ? 32 * kMiB
                                                      : 64 * kMiB;
      own = inodes * kInode + journal + size / 20 + std::min(size / 50, 16 * kMiB);
      break;
    }
    case FileSystemKind::ntfs:  // the log
      own = std::clamp(size / 200, 3 * kMiB / 2, 64 * kMiB);
      break;
    case FileSystemKind::fat32:  // two tables
      own = size / (cluster + 8) * 8;
      break;
    case FileSystemKind::exfat:  // one table
      own = size / (cluster + 4) * 4;
      break;
    case FileSystemKind::xfs:  // the log; 64 MiB since xfsprogs 5.19
      own = 10 * kMiB;
      break;
    case FileSystemKind::btrfs:  // the least of metadata; most versions of mkfs.btrfs keep it twice
      own = 16 * kMiB;
      break;
  }
  return size - std::min(size, own);
}

std::optional<std::uint64_t> most_entries(FileSystemKind kind, std::uint64_t size) {
  std::uint64_t bytes_per_inode = file_system_info(kind).limits.bytes_per_inode;
  if (bytes_per_inode == 0) return std::nullopt;
  // The numbers of ext4's groups are rounded up to whole blocks of inodes.
  constexpr std::uint64_t kGroup = 128 * kMiB, kRounding = 32;
  if (kind == FileSystemKind::ext4 && size < kSmallExt4) bytes_per_inode = kInodeOfSmallExt4;
  return size / bytes_per_inode + (size / kGroup + 1) * kRounding;
}

FileSystemLimits limits_of_mount(const MountedFileSystem& mounted, std::uint64_t block_size) {
  // The type of two drivers.
  if (mounted.type == "fuseblk" && is_exfat(mounted.source)) {
    return limits_of_driver(file_system_info(FileSystemKind::exfat).fuse_program);
  }
  return limits_of_mounted(mounted.type, block_size);
}

std::vector<std::string> make_command(FileSystemKind kind, const std::string& device,
                                      std::uint64_t size, bool is_device) {
  const std::string label(kVolumeLabel);
  switch (kind) {
    case FileSystemKind::ext4: {
      // Inode tables are initialised lazily and then never (noinit_itable below), so that no
      // background thread writes during a measurement. 4 KiB blocks on small volumes, too, where
      // mkfs would choose 1 KiB, which is unusual on real disks.
      const std::string options = "lazy_itable_init=1,lazy_journal_init=1";
      return {"mkfs.ext4", "-q",   "-F",
              "-b",        "4096", "-L",
              label,       "-E",   is_device ? options : options + ",nodiscard",
              device};
    }
    case FileSystemKind::ntfs:
      return {"mkfs.ntfs", "-q", "-Q", "-F", "-L", label, device};
    case FileSystemKind::fat32:
      return {"mkfs.vfat", "-F",  "32", "-s",  fmt::format("{}", fat32_cluster(size) / 512),
              "-S",        "512", "-n", label, device};
    case FileSystemKind::exfat:
      return {"mkfs.exfat", "-L", label, device};
    case FileSystemKind::xfs: {
      std::vector<std::string> command = {"mkfs.xfs", "-q", "-f", "-L", label, device};
      if (!is_device) command.insert(command.begin() + 1, "-K");
      return command;
    }
    case FileSystemKind::btrfs: {
      std::vector<std::string> command = {"mkfs.btrfs", "-q", "-f", "-L", label, device};
      if (!is_device) command.insert(command.begin() + 1, "-K");
      return command;
    }
  }
  return {};
}

std::vector<std::vector<std::string>> fuse_commands(FileSystemKind kind, const std::string& source,
                                                    const std::string& mount_point) {
  switch (kind) {
    // big_writes: requests of 128 KiB instead of 4 KiB, as recommended for speed in the driver's
    // manual. FUSE 3 always has large requests and refuses the option.
    case FileSystemKind::ntfs:
      return {{"ntfs-3g", "-o", "no_detach,big_writes", source, mount_point},
              {"ntfs-3g", "-o", "no_detach", source, mount_point}};
    case FileSystemKind::fat32:
      return {{"fusefat", "-f", "-s", "-o", "rw+,big_writes,max_write=131072", source, mount_point},
              {"fusefat", "-f", "-s", "-o", "rw+", source, mount_point}};
    case FileSystemKind::exfat:
      // There is no -f option. -d also keeps it in the foreground, but logs a line per request.
      return {{"mount.exfat-fuse", "-d", source, mount_point}};
    case FileSystemKind::ext4:
      return {{"fuse2fs", "-f", "-o", "rw,fakeroot", source, mount_point}};
    case FileSystemKind::xfs:
    case FileSystemKind::btrfs:
      break;
  }
  return {};
}

std::string_view kernel_mount_options(FileSystemKind kind) {
  return kind == FileSystemKind::ext4 ? "noinit_itable" : "";
}

std::uint64_t fat32_cluster(std::uint64_t size) {
  if (size < 260 * kMiB) return 512;
  if (size < 8 * kGiB) return 4096;
  if (size < 16 * kGiB) return 8192;
  if (size < 32 * kGiB) return 16384;
  return 32768;
}

}  // namespace filereel
