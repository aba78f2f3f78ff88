#include "replay/jobs/room.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
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

// The cluster sizes of limits_of_formatted.
std::span<const std::uint64_t> clusters_of(FileSystemKind kind) {
  static constexpr std::array<std::uint64_t, 5> kFat32 = {512, 4096, 8192, 16384, 32768};
  static constexpr std::array<std::uint64_t, 2> kExfat = {4096, 32768};
  static constexpr std::array<std::uint64_t, 1> kOthers = {4096};
  if (kind == FileSystemKind::fat32) return kFat32;
  if (kind == FileSystemKind::exfat) return kExfat;
  return kOthers;
}

void check_bytes(std::uint64_t needed, std::uint64_t bytes, const std::string& volume,
                 const std::string& what, std::string_view advice) {
  if (needed <= bytes) return;
  throw Error(ErrorKind::failed,
              fmt::format("not enough space on {} for {}: {} needed, {} free; {}", volume, what,
                          format_size(needed), format_size(bytes), advice));
}

void check_entries(std::uint64_t needed, std::uint64_t entries, const std::string& volume,
                   const std::string& what, std::string_view advice) {
  if (needed <= entries) return;
  throw Error(ErrorKind::failed,
              fmt::format("not enough inodes on {} for {}: {} needed, {} free; {}", volume, what,
                          needed, entries, advice));
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

void VolumeNeeds::adapt() {
  least = entries = 0;
  for (FormattedNeeds& needs : formatted) {
    needs.entries = 0;
    for (auto& [cluster, bytes] : needs.bytes) bytes = 0;
  }
}

void add_needs(const FileSet& set, std::span<const FileSystemKind> kinds, std::uint64_t copies,
               VolumeNeeds& needs, const FileSystemLimits* directory) {
  needs.image =
      std::max(needs.image, image_size({&set, 1}, kinds, std::max<std::uint64_t>(copies, 1)));
  constexpr FileSystemLimits kAny{.cluster = 1, .inline_bytes = 0};
  needs.least = std::max(needs.least, least_space(set, directory ? *directory : kAny, copies));
  needs.entries = std::max(needs.entries, entries_needed(set, copies));
  for (const FileSystemKind kind : kinds) {
    auto one = std::ranges::find(needs.formatted, kind, &FormattedNeeds::kind);
    if (one == needs.formatted.end()) one = needs.formatted.insert(one, {.kind = kind});
    one->entries = std::max(one->entries, entries_needed(set, copies));
    for (const std::uint64_t cluster : clusters_of(kind)) {
      FileSystemLimits limits = file_system_info(kind).limits;
      limits.cluster = cluster;
      std::uint64_t& bytes = one->bytes[cluster];
      bytes = std::max(bytes, least_space(set, limits, copies));
    }
  }
}

void check_capacity(const VolumeNeeds& needs, std::uint64_t trees, std::uint64_t bytes,
                    std::optional<std::uint64_t> entries, const std::string& volume,
                    std::string_view advice) {
  check_bytes(needs.least * trees, bytes, volume, needs.what, advice);
  if (entries) check_entries(needs.entries * trees, *entries, volume, needs.what, advice);
}

void check_formatted_capacity(const VolumeNeeds& needs, std::uint64_t bytes,
                              const std::string& volume, std::string_view advice,
                              const MeasureFresh& measure, bool usual) {
  const auto left = [&](std::uint64_t all) {
    return static_cast<std::uint64_t>(static_cast<double>(all) * (1 - needs.filled));
  };
  for (const FormattedNeeds& one : needs.formatted) {
    check_volume_size(one.kind, bytes, volume);
    const std::uint64_t cluster = limits_of_formatted(one.kind, bytes).cluster;
    const std::uint64_t most_of_kind = usual ? most_bytes(one.kind, bytes) : bytes;
    check_bytes(one.bytes.at(cluster), left(most_of_kind), volume, needs.what, advice);
    const std::optional<std::uint64_t> most = usual ? most_entries(one.kind, bytes) : std::nullopt;
    if (most && one.entries > *most) {
      throw Error(
          ErrorKind::failed,
          fmt::format("not enough inodes on {} for {}: {} needed, at most {} on {}; {}", volume,
                      needs.what, one.entries, *most, file_system_info(one.kind).name, advice));
    }
    if (!measure || one.entries == 0) continue;
    const std::optional<FreshSpace> fresh = measure(one.kind);
    if (!fresh) continue;
    check_bytes(one.bytes.at(cluster), left(fresh->bytes), volume, needs.what, advice);
    if (fresh->entries) check_entries(one.entries, *fresh->entries, volume, needs.what, advice);
  }
}

void check_room(const FileSet& set, const std::string& what, const Volume& volume,
                std::uint64_t copies, std::string_view room) {
  const std::string advice = with_quota_advice_of(volume.root(), std::string(room));
  const std::string name = volume.describe().target;
  if (const std::optional<std::uint64_t> free = volume.free_bytes()) {
    check_bytes(least_space(set, volume.limits(), copies), *free, name, what, advice);
  }
  if (const std::optional<std::uint64_t> entries = volume.free_entries()) {
    check_entries(entries_needed(set, copies), *entries, name, what, advice);
  }
}

}  // namespace filereel
