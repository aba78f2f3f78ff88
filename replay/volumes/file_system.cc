#include "replay/volumes/file_system.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::uint64_t k4GiB = 1ULL << 32, k16TiB = 1ULL << 44;
constexpr std::int64_t k1901 = INT32_MIN;
constexpr std::int64_t k1980 = 315'532'800, k2107 = 4'354'819'199;

// Metadata files of NTFS (Microsoft, "Master File Table").
constexpr std::array<std::string_view, 11> kNtfsFiles = {
    "$MFT",  "$MFTMIRR", "$LOGFILE", "$VOLUME", "$ATTRDEF", "$BITMAP",
    "$BOOT", "$BADCLUS", "$SECURE",  "$UPCASE", "$EXTEND"};

// Of 2 MiB; a long name takes a slot for 13 units (Microsoft, fatgen103).
constexpr DirectorySlots kFatSlots{.most = 65'536, .fixed = 1, .units = 13, .short_names = true};
// Of 256 MiB; a file entry, a stream entry, one for 15 units (Microsoft, "exFAT specification").
constexpr DirectorySlots kExfatSlots{.most = 8'388'608, .fixed = 2, .units = 15};

// 4 KiB blocks: 2^32 - 1 of them in a file, links of at most a block with the null byte, attributes
// in one block besides its headers (Documentation/filesystems/ext4). EXT4_LINK_MAX; with the
// inodes of 256 bytes that mkfs makes, seconds of 34 bits.
constexpr FileSystemLimits kExt4{.largest_file = k16TiB - 4096,
                                 .bytes_per_inode = 16 << 10,  // mke2fs.conf(5)
                                 .inline_bytes = 0,
                                 .directory_clusters = true,
                                 .names_of_file = 65'000,
                                 .xattr_value = 4040,
                                 .earliest_s = k1901,
                                 .latest_s = k1901 + (1LL << 34) - 1};

// Inodes of 512 bytes in at most a quarter of the volume (mkfs.xfs(8)). A link text is shorter than
// XFS_SYMLINK_MAXLEN of 1024. Times count from 1901 with "bigtime", the default of mkfs
// (XFS_BIGTIME_TIME_MAX); without, they end in 2038.
constexpr FileSystemLimits kXfs{.bytes_per_inode = 2048,
                                .entry_bytes = 512,
                                .inline_bytes = 0,
                                .link_text = 1023,
                                .earliest_s = k1901,
                                .latest_s = 16'299'260'424};

// Items of 330 bytes without the name. Most versions of mkfs.btrfs store them twice.
// BTRFS_LINK_MAX; an attribute is one item in a node of 16 KiB.
constexpr FileSystemLimits kBtrfs{
    .entry_bytes = 330, .inline_bytes = 2048, .names_of_file = 65'535, .xattr_value = 16'222};

// Names follow Windows rules so that Windows can read the volume. Texts are stored in UTF-16, too.
// The count of names has 16 bits; ntfs3 has NTFS_LINK_MAX, and clusters of 4 KiB
// counted in 32 bits. Times count from 1601 in 64 bits.
constexpr FileSystemLimits ntfs(std::uint64_t largest_file, std::uint32_t names_of_file,
                                std::uint32_t xattr_value) {
  return {.largest_file = largest_file,
          .entry_bytes = 1024,  // a record of the MFT, with small files
          .inline_bytes = 1023,
          .windows_names = true,
          .names_of_file = names_of_file,
          .xattr_value = xattr_value,
          .time_unit_ns = 100,
          .root_names = kNtfsFiles};
}

// Sizes have 32 bits, dates 7 bits for the year, times of modification units of two seconds
// (Microsoft, fatgen103). The driver fusefat supports ASCII only, and shows the label as a file.
constexpr FileSystemLimits fat32(bool fuse) {
  return {.largest_file = k4GiB - 1,
          .entry_bytes = 32,
          .inline_bytes = 0,
          .directory_clusters = true,
          .windows_names = true,
          .ascii_names = fuse,
          .links = false,
          .holes = false,
          .lists_label = fuse,
          .names_of_file = 1,
          .link_text = 0,
          .slots = kFatSlots,
          .xattr_value = 0,
          .earliest_s = k1980,
          .latest_s = k2107,
          .time_unit_ns = 2'000'000'000};
}

// Dates as on FAT, with units of 10 ms ("exFAT specification"). exfat-fuse drops fractions of
// seconds, and takes 2100 for a leap year.
constexpr FileSystemLimits exfat(std::int64_t latest_s, std::uint32_t time_unit_ns) {
  return {.cluster = 32 << 10,
          .entry_bytes = 96,
          .inline_bytes = 0,
          .directory_clusters = true,
          .windows_names = true,
          .links = false,
          .holes = false,
          .names_of_file = 1,
          .link_text = 0,
          .slots = kExfatSlots,
          .xattr_value = 0,
          .earliest_s = k1980,
          .latest_s = latest_s,
          .time_unit_ns = time_unit_ns};
}

constexpr std::array<DriverLimits, 10> kDrivers = {{
    {"ext4", kExt4},
    {"xfs", kXfs},
    {"btrfs", kBtrfs},
    {"tmpfs", {}},
    {"ntfs3", ntfs(k16TiB - (64 << 10), 4000, 65'535)},
    {"ntfs-3g", ntfs(INT64_MAX - 4095, 65'535, 65'536)},
    {"vfat", fat32(false)},
    {"fusefat", fat32(true)},
    {"exfat", exfat(k2107, 10'000'000)},
    {"mount.exfat-fuse", exfat(k2107 + 86'400, 1'000'000'000)},
}};
// Names of 255 bytes and paths of PATH_MAX are limits of Linux itself.
constexpr DriverLimits kOthers{"others", {}};

constexpr auto kTable = [] {
  std::array<DriverLimits, kDrivers.size() + 1> table{};
  std::ranges::copy(kDrivers, table.begin());
  table.back() = kOthers;
  return table;
}();

// Drivers, and types in /proc/mounts, with the limits of another one. fuseblk may also be
// exfat-fuse (limits_of_mount).
struct Alias {
  std::string_view name, driver;
};
constexpr std::array<Alias, 6> kAliases = {{{"fuse2fs", "ext4"},
                                            {"fuse.fuse2fs", "ext4"},
                                            {"msdos", "vfat"},
                                            {"fuse.fusefat", "fusefat"},
                                            {"ntfs", "ntfs3"},
                                            {"fuseblk", "ntfs-3g"}}};

}  // namespace

std::span<const DriverLimits> driver_limits() {
  return kTable;
}

const FileSystemLimits& limits_of_driver(std::string_view driver) {
  if (const auto* alias = find_or_null(kAliases, driver, &Alias::name)) driver = alias->driver;
  const DriverLimits* const found = find_or_null(kTable, driver, &DriverLimits::driver);
  return found ? found->limits : kTable.back().limits;
}

FileSystemLimits limits_of_mounted(std::string_view type, std::uint64_t block_size) {
  FileSystemLimits limits = limits_of_driver(type);
  if (type == "ext4" && block_size >= 1024 && block_size < limits.cluster) {
    constexpr std::uint64_t kBlocks = UINT32_MAX, kHeaders = 56;
    limits.cluster = block_size;
    limits.largest_file = kBlocks * block_size;
    limits.link_text = static_cast<std::uint32_t>(block_size - 1);
    limits.xattr_value = static_cast<std::uint32_t>(block_size - kHeaders);
  }
  return limits;
}

FileSystemLimits strictest(std::span<const FileSystemLimits> all) {
  FileSystemLimits limits;
  for (const FileSystemLimits& file_system_limits : all) {
    limits.largest_file = std::min(limits.largest_file, file_system_limits.largest_file);
    limits.cluster = std::max(limits.cluster, file_system_limits.cluster);
    limits.windows_names |= file_system_limits.windows_names;
    limits.ascii_names |= file_system_limits.ascii_names;
    limits.links &= file_system_limits.links;
    limits.holes &= file_system_limits.holes;
    limits.lists_label |= file_system_limits.lists_label;
    limits.names_of_file = std::min(limits.names_of_file, file_system_limits.names_of_file);
    limits.link_text = std::min(limits.link_text, file_system_limits.link_text);
    const bool fewer = limits.slots.most == 0 || file_system_limits.slots.most < limits.slots.most;
    if (file_system_limits.slots.most > 0 && fewer) limits.slots = file_system_limits.slots;
    limits.xattr_value = std::min(limits.xattr_value, file_system_limits.xattr_value);
    limits.earliest_s = std::max(limits.earliest_s, file_system_limits.earliest_s);
    limits.latest_s = std::min(limits.latest_s, file_system_limits.latest_s);
    limits.time_unit_ns = std::max(limits.time_unit_ns, file_system_limits.time_unit_ns);
    if (!file_system_limits.root_names.empty()) limits.root_names = file_system_limits.root_names;
  }
  return limits;
}

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

std::uint64_t fat32_cluster(std::uint64_t size) {
  if (size < 260 * kMiB) return 512;
  if (size < 8 * kGiB) return 4096;
  if (size < 16 * kGiB) return 8192;
  if (size < 32 * kGiB) return 16384;
  return 32768;
}

}  // namespace filereel
