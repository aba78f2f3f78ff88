// What a file system says of itself: what mkfs chose, by default or by options, and what later
// changed it. Two volumes that differ in any of it are not the same, whatever their mount options.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "replay/results/volume_description.h"

namespace filereel {

struct FileSystemFeatures {
  FeatureValues values;
  std::string unknown;  // why they are not known, if they could be: "dumpe2fs failed on /dev/sdb"
};

// Whether features of this type of file system (the kernel's or filereel's name) are ever read.
bool has_features(std::string_view type);

// Reads them from the block device or image `source`, which is open for reading as `fd` (-1: it
// could not be opened, and `error` says why). `type` is the kernel's or filereel's name of the file
// system. ext2 to ext4, xfs and btrfs are described by their own programs, FAT, exFAT and NTFS by
// their boot sector.
FileSystemFeatures read_file_system_features(std::string_view type, const std::string& source,
                                             int fd, int error = 0);

// From the output of `dumpe2fs -h`, `xfs_db -c info` and `btrfs inspect-internal dump-super`.
FeatureValues features_of_ext(std::string_view output);
FeatureValues features_of_xfs(std::string_view output);
FeatureValues features_of_btrfs(std::string_view output);

// From the first 512 bytes of a volume; empty if they are of none of these.
FeatureValues features_of_boot_sector(std::string_view sector);

}  // namespace filereel
