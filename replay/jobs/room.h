// Space on volumes: the size of images, and whether a set fits a volume.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/volume.h"

namespace filereel {

// What files take at least on a file system.
struct FormattedNeeds {
  FileSystemKind kind;
  std::uint64_t entries = 0;
  // Bytes by cluster size, which depends on the size of the volume on FAT.
  std::map<std::uint64_t, std::uint64_t> bytes = {};
};

// The space a job needs on the volume of a role.
struct VolumeNeeds {
  // Bytes of an image that is large enough for every requested file system.
  std::uint64_t image = 0;
  // What the files take at least, on file systems to be formatted; empty for directories. Nothing
  // is taken by a job that adapts to the volume. A smaller volume is refused at once.
  std::vector<FormattedNeeds> formatted = {};
  // What the files take at least in a directory, or on any file system if its own is unknown.
  std::uint64_t least = 0;    // bytes
  std::uint64_t entries = 0;  // files and directories
  std::string what;           // what needs the space, such as "the file set 'programs'"
  double filled = 0;          // share of the space that other files take first (--fill)

  // The files have the size that the volume allows.
  void adapt();
};

// Increases the needs to those of `copies` copies of a set. `kinds`: file systems to be formatted.
// `directory`: the limits of a directory; null if unknown.
void add_needs(const FileSet& set, std::span<const FileSystemKind> kinds, std::uint64_t copies,
               VolumeNeeds& needs, const FileSystemLimits* directory = nullptr);

// The smallest image that holds every set `copies` times on each of the file systems.
std::uint64_t image_size(std::span<const FileSet> sets, std::span<const FileSystemKind> kinds,
                         std::uint64_t copies);

// Throws Error(failed) if a directory with this free space cannot hold `trees` times what needs it.
// `entries`: of files and directories; nothing if unknown or unlimited. `advice` says what to do.
void check_capacity(const VolumeNeeds& needs, std::uint64_t trees, std::uint64_t bytes,
                    std::optional<std::uint64_t> entries, const std::string& volume,
                    std::string_view advice);
// The space on a freshly formatted volume.
struct FreshSpace {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> entries = {};  // nothing: not limited
};

// The same for a volume of `bytes` bytes that is to be formatted, with each of the file systems.
// `measure` formats a trial of one, and returns nothing if it cannot; without it, what passes may
// still not fit: then check_room sees the free space of the file system.
//
// `usual`: it has mkfs's default settings, for which more is known.
using MeasureFresh = std::function<std::optional<FreshSpace>(FileSystemKind)>;
void check_formatted_capacity(const VolumeNeeds& needs, std::uint64_t bytes,
                              const std::string& volume, std::string_view advice,
                              const MeasureFresh& measure = {}, bool usual = true);

// The same for a set on a prepared volume, as far as it reports free space: bytes, and inodes if
// their number is limited. `what` needs the space, as in VolumeNeeds.
void check_room(const FileSet& set, const std::string& what, const Volume& volume,
                std::uint64_t copies, std::string_view advice);

}  // namespace filereel
