#include "replay/run/room.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/volumes/name_rules.h"

namespace filereel {
namespace {

// Space for the file system itself: journal, allocation tables, reserve for normal operation.
// Measured on freshly formatted volumes and rounded up; xfs and btrfs have a minimum.
std::uint64_t own_space(FileSystemKind kind, std::uint64_t content) {
  switch (kind) {
    case FileSystemKind::ext4:
      return 64 * kMiB + content / 10;  // journal, inodes, 5 % for root
    case FileSystemKind::ntfs:
      return 48 * kMiB + content / 20;
    case FileSystemKind::fat32:
      return 16 * kMiB + content / 50;
    case FileSystemKind::exfat:
      return 16 * kMiB + content / 50;
    case FileSystemKind::xfs:
      return 128 * kMiB + content / 20;
    case FileSystemKind::btrfs:
      return 384 * kMiB + content / 4;  // metadata is stored twice
  }
  return 0;
}

// On small volumes mkfs.fat uses 512-byte clusters, which are slow and found on no current drive.
// An image of filereel's own is large enough for 4 KiB.
std::uint64_t usual_least_size(const FileSystemInfo& info) {
  constexpr std::uint64_t kLeastFat32 = 272 << 20;
  return info.kind == FileSystemKind::fat32 ? std::max(info.min_volume_size, kLeastFat32)
                                            : info.min_volume_size;
}

}  // namespace

std::uint64_t image_size(std::span<const FileSet> sets, std::span<const FileSystemKind> kinds,
                         std::uint64_t copies) {
  constexpr std::uint64_t kOwnInodes = 1024;  // reserved inodes and rounding
  std::uint64_t size = 0;
  for (const FileSystemKind kind : kinds) {
    const FileSystemInfo& info = file_system_info(kind);
    std::uint64_t content = 0, inodes = 0;
    for (const FileSet& set : sets) {
      content = std::max(content, space_needed(set, info.limits, copies));
      inodes = std::max(inodes, entries_needed(set, copies) + kOwnInodes);
    }
    size = std::max({size, usual_least_size(info), content + own_space(kind, content),
                     inodes * info.limits.bytes_per_inode});
  }
  constexpr std::uint64_t kUnit = 4 << 20;
  return (size + kUnit - 1) / kUnit * kUnit;
}

std::uint64_t least_space(const FileSet& set, std::uint64_t copies) {
  constexpr FileSystemLimits kLeast{.cluster = 512};
  return space_needed(set, kLeast, copies);
}

void check_room(std::uint64_t needed, std::uint64_t bytes, const std::string& volume,
                const std::string& what, std::string_view advice) {
  if (needed <= bytes) return;
  throw Error(ErrorKind::failed,
              fmt::format("not enough space on {} for {}: {} needed, {} free; {}", volume, what,
                          format_size(needed), format_size(bytes), advice));
}

void check_room(const FileSet& set, const Volume& volume, std::uint64_t copies,
                std::string_view advice) {
  const std::string name = volume.describe().target;
  const std::string what =
      set.name.empty() ? "the files" : fmt::format("the file set '{}'", set.name);
  if (const std::optional<std::uint64_t> free = volume.free_bytes()) {
    check_room(space_needed(set, volume.limits(), copies), *free, name, what, advice);
  }
  const std::optional<std::uint64_t> entries = volume.free_entries();
  const std::uint64_t needed = entries_needed(set, copies);
  if (!entries || needed <= *entries) return;
  throw Error(ErrorKind::failed,
              fmt::format("not enough inodes on {} for {}: {} needed, {} free; {}", name, what,
                          needed, *entries, advice));
}

}  // namespace filereel
