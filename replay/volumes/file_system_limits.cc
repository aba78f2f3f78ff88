#include "replay/volumes/file_system_limits.h"

#include <algorithm>
#include <array>

#include "filesets/system/search.h"

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
  for (const FileSystemLimits& one : all) {
    limits.largest_file = std::min(limits.largest_file, one.largest_file);
    limits.cluster = std::max(limits.cluster, one.cluster);
    limits.windows_names |= one.windows_names;
    limits.ascii_names |= one.ascii_names;
    limits.links &= one.links;
    limits.holes &= one.holes;
    limits.lists_label |= one.lists_label;
    limits.names_of_file = std::min(limits.names_of_file, one.names_of_file);
    limits.link_text = std::min(limits.link_text, one.link_text);
    const bool fewer = limits.slots.most == 0 || one.slots.most < limits.slots.most;
    if (one.slots.most > 0 && fewer) limits.slots = one.slots;
    limits.xattr_value = std::min(limits.xattr_value, one.xattr_value);
    limits.earliest_s = std::max(limits.earliest_s, one.earliest_s);
    limits.latest_s = std::min(limits.latest_s, one.latest_s);
    limits.time_unit_ns = std::max(limits.time_unit_ns, one.time_unit_ns);
    if (!one.root_names.empty()) limits.root_names = one.root_names;
  }
  return limits;
}

}  // namespace filereel
