#include "replay/volumes/shared_extents.h"

#include <array>
#include <cstddef>
#include <memory>

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "filesets/system/descriptor.h"

namespace filereel {

Extents extents_of(int root, const std::string& path) {
  const Descriptor file(openat(root, path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return Extents::none;
  constexpr std::size_t kAtOnce = 64;  // sufficient: a copy is shared from the start or not
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + kAtOnce * sizeof(fiemap_extent)> memory{};
  auto* map = new (memory.data()) fiemap{};
  map->fm_length = FIEMAP_MAX_OFFSET;
  map->fm_flags = FIEMAP_FLAG_SYNC;
  map->fm_extent_count = kAtOnce;
  if (ioctl(file.get(), FS_IOC_FIEMAP, map) != 0 || map->fm_mapped_extents == 0) {
    return Extents::none;
  }
  Extents found = Extents::none;
  for (std::size_t i = 0; i < map->fm_mapped_extents; ++i) {
    const std::uint32_t flags = map->fm_extents[i].fe_flags;
    if ((flags & FIEMAP_EXTENT_DATA_INLINE) != 0) continue;  // small files cannot share
    if ((flags & FIEMAP_EXTENT_SHARED) == 0) return Extents::own;
    found = Extents::shared;
  }
  return found;
}

}  // namespace filereel
