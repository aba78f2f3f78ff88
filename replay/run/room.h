// Room on volumes: how large an image must be, and whether what is to lie on a volume fits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filesets/file_set.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/volume.h"

namespace filereel {

// The least image that holds every set `copies` times on each of the file systems.
std::uint64_t image_size(std::span<const FileSet> sets, std::span<const FileSystemKind> kinds,
                         std::uint64_t copies);

// Bytes that the set takes with the smallest clusters there are.
std::uint64_t least_space(const FileSet& set, std::uint64_t copies);

// Throws Error(failed) if a volume has less than `needed` bytes; `what` needs them, `advice` says
// what to do.
void check_room(std::uint64_t needed, std::uint64_t bytes, const std::string& volume,
                const std::string& what, std::string_view advice);

// The same of a set for what is free on a volume that is prepared, as far as it says so: bytes, and
// files where their number is limited.
void check_room(const FileSet& set, const Volume& volume, std::uint64_t copies,
                std::string_view advice);

}  // namespace filereel
