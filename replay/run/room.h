// Space on volumes: the size of images, and whether a set fits a volume.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filesets/file_set.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/volume.h"

namespace filereel {

// The smallest image that holds every set `copies` times on each of the file systems.
std::uint64_t image_size(std::span<const FileSet> sets, std::span<const FileSystemKind> kinds,
                         std::uint64_t copies);

// Bytes that the set needs with the smallest clusters.
std::uint64_t least_space(const FileSet& set, std::uint64_t copies);

// Throws Error(failed) if a volume has less than `needed` bytes. `what` needs them; `advice` says
// what to do.
void check_room(std::uint64_t needed, std::uint64_t bytes, const std::string& volume,
                const std::string& what, std::string_view advice);

// The same for a set on a prepared volume, as far as it reports free space: bytes, and inodes if
// their number is limited.
void check_room(const FileSet& set, const Volume& volume, std::uint64_t copies,
                std::string_view advice);

}  // namespace filereel
