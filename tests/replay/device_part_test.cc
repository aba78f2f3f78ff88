#include <string>

#include <doctest/doctest.h>
#include <sys/sysmacros.h>

#include "filesets/system/error.h"
#include "replay/volumes/block_device.h"
#include "tests/replay/sysfs_tree.h"

namespace filereel {
namespace {

constexpr std::uint64_t kGiB = 1 << 30;

// A disk of 8 GiB, whose second partition has 2 GiB from 3 GiB on.
struct Disk {
  Disk() {
    tree.device(kPath, "8:0", 8 * kGiB / 512);
    tree.device(kPath + "/sda2", "8:2", 2 * kGiB / 512);
    tree.file(kPath + "/sda2/partition", "2\n");
    tree.file(kPath + "/sda2/start", std::to_string(3 * kGiB / 512) + "\n");
  }
  DiskRange range(unsigned number, std::uint64_t start = 0, std::uint64_t size = 0) const {
    return range_of({TargetKind::block_device, "/dev/x", size, false, start}, makedev(8, number),
                    tree.sys());
  }
  std::string refusal(unsigned number, std::uint64_t start, std::uint64_t size) const {
    try {
      range(number, start, size);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return "";
  }

  const std::string kPath = "devices/pci0000:00/ata1/block/sda";
  SysfsTree tree;
};

TEST_CASE("disks, partitions and parts of both are bytes of the disk") {
  const Disk disk;
  const DiskRange whole = disk.range(0);
  CHECK(whole.disk == makedev(8, 0));
  CHECK(whole.begin == 0);
  CHECK(whole.end == 8 * kGiB);
  const DiskRange partition = disk.range(2);
  CHECK(partition.device == makedev(8, 2));
  CHECK(partition.disk == makedev(8, 0));
  CHECK(partition.begin == 3 * kGiB);
  CHECK(partition.end == 5 * kGiB);
  const DiskRange part = disk.range(2, kGiB, kGiB / 2);
  CHECK(part.begin == 4 * kGiB);
  CHECK(part.size() == kGiB / 2);
  CHECK(disk.range(0, kGiB).end == 8 * kGiB);  // without a size: the rest
}

TEST_CASE("what overlaps and what covers is told across partitions") {
  const Disk disk;
  const DiskRange whole = disk.range(0), partition = disk.range(2);
  CHECK(whole.overlaps(partition));
  CHECK(partition.overlaps(whole));
  CHECK(whole.covers(partition));
  CHECK_FALSE(partition.covers(whole));
  CHECK_FALSE(partition.overlaps(disk.range(0, 0, 3 * kGiB)));
  CHECK_FALSE(partition.overlaps(disk.range(0, 5 * kGiB, kGiB)));
  CHECK(partition.overlaps(disk.range(0, 5 * kGiB - 4096, kGiB)));
  CHECK(partition.covers(disk.range(2, kGiB)));
}

TEST_CASE("a part that does not lie within the device is refused in one line") {
  const Disk disk;
  CHECK(disk.refusal(0, 8 * kGiB, 0).find("past the end of the device") != std::string::npos);
  CHECK(disk.refusal(0, 7 * kGiB, kGiB + 4096).find("8589934592 bytes") != std::string::npos);
  CHECK(disk.refusal(2, kGiB, 2 * kGiB).find("/dev/x,start=1GiB,size=2GiB") == 0);
  CHECK_FALSE(disk.refusal(0, 16 * kGiB, ~0ULL - 4095).empty());
  CHECK(disk.refusal(0, 7 * kGiB, kGiB).empty());
}

TEST_CASE("a device of which nothing is known is used as a whole only") {
  const Disk disk;
  CHECK(disk.range(9).covers(disk.range(9)));
  CHECK_FALSE(disk.refusal(9, 0, kGiB).empty());
}

TEST_CASE("a name that is no block device has no place on a disk") {
  CHECK_THROWS_AS(range_of({TargetKind::block_device, "/dev/null", kGiB}), Error);
}

}  // namespace
}  // namespace filereel
