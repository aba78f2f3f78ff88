#include "replay/volumes/ext_superblock.h"

#include <array>
#include <cstddef>

#include <unistd.h>

namespace filereel {
namespace {

constexpr std::size_t kSuperblock = 1024;  // its place on the device, and its size
using Superblock = std::array<unsigned char, kSuperblock>;

std::uint32_t number_at(const Superblock& block, std::size_t offset) {
  std::uint32_t number = 0;
  for (std::size_t i = sizeof(number); i-- > 0;) number = number << 8 | block.at(offset + i);
  return number;
}

}  // namespace

std::uint64_t ext_cluster_size(int device) {
  constexpr std::size_t kLogBlock = 0x18, kLogCluster = 0x1c, kMagic = 0x38, kReadOnlyFlags = 0x64;
  constexpr std::uint32_t kExt = 0xef53, kBigalloc = 0x200, kLargestShift = 20;
  Superblock block{};
  if (pread(device, block.data(), block.size(), kSuperblock) != static_cast<ssize_t>(kSuperblock)) {
    return 0;
  }
  if ((number_at(block, kMagic) & 0xffff) != kExt) return 0;
  const bool bigalloc = (number_at(block, kReadOnlyFlags) & kBigalloc) != 0;
  const std::uint32_t shift = number_at(block, bigalloc ? kLogCluster : kLogBlock);
  return shift > kLargestShift ? 0 : std::uint64_t{1024} << shift;
}

}  // namespace filereel
