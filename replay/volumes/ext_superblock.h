// What the superblock of ext4 tells, and statvfs does not.
#pragma once

#include <cstdint>

namespace filereel {

// The size in bytes of the clusters in which ext2 to ext4 allocate, from their device, which is
// open for reading: with bigalloc more than a block. 0 if it cannot be read.
std::uint64_t ext_cluster_size(int device);

}  // namespace filereel
