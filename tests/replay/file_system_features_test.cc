// What file systems say of themselves, and how a comparison names it.
#include "replay/volumes/file_system_features.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/changes.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

TEST_CASE("ext4 is described by dumpe2fs, without what says that it is in use") {
  const FeatureValues values = features_of_ext(
      "Filesystem volume name:   FILEREEL\n"
      "Filesystem features:      has_journal extent needs_recovery 64bit\n"
      "Inode count:              25600\n"
      "Block size:               4096\n"
      "Inode size:\t          256\n"
      "Journal features:         journal_incompat_revoke journal_64bit\n"
      "Total journal size:       16M\n");
  CHECK(values == FeatureValues{{"features", "has_journal extent 64bit"},
                                {"block size", "4096"},
                                {"inode size", "256"},
                                {"journal features", "journal_64bit"},
                                {"journal size", "16M"}});
  CHECK(features_of_ext("dumpe2fs: Bad magic number in super-block\n").empty());
}

TEST_CASE("xfs is described by xfs_db: sizes, groups, the log, and flags that are on") {
  const FeatureValues values = features_of_xfs(
      "meta-data=/dev/loop0             isize=512    agcount=4, agsize=25600 blks\n"
      "         =                       sectsz=512   attr=2, projid32bit=1\n"
      "         =                       crc=1        finobt=1, sparse=1, rmapbt=0\n"
      "         =                       reflink=0    bigtime=1 inobtcount=1 nrext64=0\n"
      "data     =                       bsize=4096   blocks=102400, imaxpct=25\n"
      "         =                       sunit=0      swidth=0 blks\n"
      "naming   =version 2              bsize=4096   ascii-ci=0, ftype=1\n"
      "log      =internal log           bsize=4096   blocks=16384, version=2\n"
      "         =                       sectsz=512   sunit=0 blks, lazy-count=1\n"
      "realtime =none                   extsz=4096   blocks=0, rtextents=0\n");
  CHECK(values.at("block size") == "4096");
  CHECK(values.at("inode size") == "512");
  CHECK(values.at("groups") == "4");
  CHECK(values.at("log size") == "67108864");
  CHECK(values.at("log version") == "2");
  CHECK(values.at("directory version") == "2");
  const std::string& flags = values.at("features");
  CHECK(flags.contains("bigtime"));
  CHECK(flags.contains("projid32bit"));
  CHECK_FALSE(flags.contains("reflink"));
  CHECK_FALSE(flags.contains("nrext64"));
  CHECK(features_of_xfs("xfs_db: not a valid XFS filesystem\n").empty());
}

TEST_CASE("btrfs is described by its superblock") {
  const FeatureValues values = features_of_btrfs(
      "superblock: bytenr=65536, device=f\n"
      "csum_type\t\t0 (crc32c)\n"
      "flags\t\t\t0x1\n\t\t\t( WRITTEN )\n"
      "sectorsize\t\t4096\n"
      "nodesize\t\t16384\n"
      "compat_ro_flags\t\t0x1\n\t\t\t( FREE_SPACE_TREE )\n"
      "incompat_flags\t\t0x341\n\t\t\t( MIXED_BACKREF |\n\t\t\t  NO_HOLES )\n"
      "dev_item.sector_size\t4096\n");
  CHECK(values == FeatureValues{{"checksums", "0 (crc32c)"},
                                {"sector size", "4096"},
                                {"node size", "16384"},
                                {"features", "FREE_SPACE_TREE MIXED_BACKREF NO_HOLES"}});
}

// A boot sector with numbers of up to four bytes at their offsets.
struct BootSector {
  std::string bytes = std::string(512, '\0');

  void text(std::size_t at, std::string_view value) { bytes.replace(at, value.size(), value); }
  void number(std::size_t at, std::uint32_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  }
};

TEST_CASE("FAT, exFAT and NTFS are described by their boot sectors") {
  BootSector fat;
  fat.number(510, 0xaa55, 2);
  fat.number(11, 512, 2);
  fat.number(13, 8, 1);
  fat.number(14, 32, 2);
  fat.number(16, 2, 1);
  fat.text(82, "FAT32   ");
  CHECK(features_of_boot_sector(fat.bytes) == FeatureValues{{"sector size", "512"},
                                                            {"cluster size", "4096"},
                                                            {"reserved sectors", "32"},
                                                            {"tables", "2"},
                                                            {"table entries", "32 bits"}});
  BootSector exfat;
  exfat.number(510, 0xaa55, 2);
  exfat.text(3, "EXFAT   ");
  exfat.number(108, 9, 1);
  exfat.number(109, 6, 1);
  exfat.number(110, 1, 1);
  exfat.number(80, 2048, 4);
  CHECK(features_of_boot_sector(exfat.bytes).at("cluster size") == "32768");
  CHECK(features_of_boot_sector(exfat.bytes).at("table offset") == "1048576");
  BootSector ntfs;
  ntfs.number(510, 0xaa55, 2);
  ntfs.text(3, "NTFS    ");
  ntfs.number(11, 512, 2);
  ntfs.number(13, 8, 1);
  ntfs.number(64, 0xf6, 1);  // 2^10
  ntfs.number(68, 1, 1);
  CHECK(features_of_boot_sector(ntfs.bytes).at("cluster size") == "4096");
  CHECK(features_of_boot_sector(ntfs.bytes).at("file record size") == "1024");
  CHECK(features_of_boot_sector(ntfs.bytes).at("index record size") == "4096");
  CHECK(features_of_boot_sector(std::string(512, '\0')).empty());
  CHECK(features_of_boot_sector("").empty());
}

TEST_CASE("a file system that has no device has no features, one that cannot be read a reason") {
  const FileSystemFeatures none = read_file_system_features("tmpfs", "tmpfs", -1, 13);
  CHECK(none.values.empty());
  CHECK(none.unknown.empty());
  const FileSystemFeatures denied = read_file_system_features("ext4", "/dev/x", -1, 13);
  CHECK(denied.unknown == "cannot read /dev/x: Permission denied");
}

Result with_features(FeatureValues features, double used) {
  Result result = sample_result();
  result.volumes[0].features = std::move(features);
  result.volumes[0].used = used;
  return result;
}

std::vector<std::string> changes_of(const Result& base, const Result& fresh) {
  std::vector<std::string> texts;
  for (const Change& change : changes_between({&base, 1}, {&fresh, 1})) {
    texts.push_back(change.what + ": " + change.base + " -> " + change.fresh);
  }
  return texts;
}

TEST_CASE("a comparison names each feature, each value, and how full the volumes were") {
  const Result base =
      with_features({{"features", "extent has_journal"}, {"block size", "4096"}}, 0);
  CHECK(changes_of(base, base).empty());
  CHECK(changes_of(base, with_features({{"features", "extent"}, {"block size", "1024"}}, 0.04)) ==
        std::vector<std::string>{"has_journal of ext4 (near): on -> off",
                                 "block size of ext4 (near): 4096 -> 1024"});
  CHECK(changes_of(base, with_features(base.volumes[0].features, 0.6)) ==
        std::vector<std::string>{"space in use (near): 0 % -> 60 %"});
  Result unknown = with_features({}, 0);
  unknown.volumes[0].features_unknown = "cannot read /dev/x";
  CHECK(changes_of(base, unknown) ==
        std::vector<std::string>{"features of ext4 (near): known -> unknown"});
  Result renamed = unknown;
  renamed.volumes[0].features_unknown = "cannot read /dev/y";
  CHECK(changes_of(unknown, renamed).empty());
  CHECK(changes_of(sample_result(), base).empty());  // an older result does not tell
}

}  // namespace
}  // namespace filereel
