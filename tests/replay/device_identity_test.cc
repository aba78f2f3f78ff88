#include "replay/volumes/device_identity.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>

#include "filesets/system/read_file.h"
#include "replay/results/hidden_serials.h"
#include "tests/replay/sysfs_tree.h"

namespace filereel {
namespace {

using Texts = std::vector<std::string>;

const std::string kNvme = "devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1";
const std::string kAta = "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";

void add_nvme(const SysfsTree& tree) {
  tree.device(kNvme, "259:0", 2'000'000);
  tree.file(kNvme + "/device/model", "Fast Disk 3                             \n");
  tree.file(kNvme + "/device/serial", "S1234567            \n");
  tree.file(kNvme + "/device/firmware_rev", "1.07\n");
  tree.file(kNvme + "/device/transport", "pcie\n");
  tree.file(kNvme + "/wwid", "eui.0025385b\n");
  tree.file(kNvme + "/queue/rotational", "0\n");
  tree.file(kNvme + "/queue/scheduler", "[none] mq-deadline\n");
  tree.file(kNvme + "/queue/write_cache", "write back\n");
  tree.file(kNvme + "/queue/logical_block_size", "512\n");
  tree.file(kNvme + "/queue/physical_block_size", "4096\n");
  tree.file(kNvme + "/queue/nr_requests", "1023\n");
  tree.file(kNvme + "/queue/read_ahead_kb", "128\n");
}

// A drive of which nothing is known but its name.
std::string add_drive(const SysfsTree& tree, const std::string& name, const std::string& number) {
  const std::string path = "devices/pci0000:00/ata2/host1/block/" + name;
  tree.device(path, number);
  tree.file(path + "/device/model", "Model of " + name + "\n");
  return path;
}

// What SCSI says of a drive, padded as it does.
void add_inquiry(const SysfsTree& tree, const std::string& path, const std::string& vendor,
                 const std::string& model, const std::string& rev) {
  tree.file(path + "/device/vendor", fmt::format("{:8}\n", vendor));
  tree.file(path + "/device/model", fmt::format("{:16}\n", model));
  tree.file(path + "/device/rev", fmt::format("{:4}\n", rev));
}

// The one that all of the device lies on.
DeviceIdentity drive_under(const SysfsTree& tree, unsigned major, unsigned minor) {
  const DeviceStack stack = identify_devices(makedev(major, minor), tree.sources());
  REQUIRE(stack.drives.size() == 1);
  return stack.drives[0];
}

Texts names_of(const DeviceStack& stack) {
  Texts names;
  for (const DeviceIdentity& drive : stack.drives) names.push_back(drive.name);
  return names;
}

TEST_CASE("an NVMe drive is known with its firmware and its queue, through a partition") {
  const SysfsTree tree;
  add_nvme(tree);
  tree.partition(kNvme + "/nvme0n1p2", "259:2");
  const DeviceStack stack = identify_devices(makedev(259, 2), tree.sources());
  CHECK(stack.layers == Texts{"nvme0n1p2 (partition)"});
  REQUIRE(stack.drives.size() == 1);
  const DeviceIdentity& drive = stack.drives[0];
  CHECK(drive.name == "nvme0n1");
  CHECK(drive.model == "Fast Disk 3");
  CHECK(drive.serial == "S1234567");
  CHECK(drive.firmware == "1.07");
  CHECK(drive.transport == "nvme");
  CHECK(drive.size == 1'024'000'000);
  CHECK(drive.rotational == false);
  CHECK(drive.scheduler == "none");
  CHECK(drive.write_cache == "write back");
  CHECK(drive.logical_block == 512);
  CHECK(drive.physical_block == 4096);
  CHECK(drive.queue_requests == 1023);
  CHECK(drive.read_ahead_kib == 128);
}

TEST_CASE("an NVMe drive behind a network says so, and one behind several paths is one drive") {
  const SysfsTree tree;
  const std::string path = "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
  tree.device(path, "259:0");
  tree.file(path + "/device/model", "Array\n");
  tree.file(path + "/device/transport", "tcp\n");
  CHECK(drive_under(tree, 259, 0).transport == "nvme-tcp");
}

// Page 89h of an ATA drive, whose texts are swapped byte by byte.
std::string identify_page(const std::string& model, const std::string& serial,
                          const std::string& firmware) {
  std::string page(60 + 512, '\0');
  page[1] = static_cast<char>(0x89);
  const auto put = [&](std::size_t word, std::size_t words, const std::string& text) {
    for (std::size_t i = 0; i < 2 * words; ++i) {
      page[60 + 2 * word + (i ^ 1)] = i < text.size() ? text[i] : ' ';
    }
  };
  put(10, 10, serial);
  put(23, 4, firmware);
  put(27, 20, model);
  return page;
}

TEST_CASE("an ATA drive is known by its whole model and firmware, not by what SCSI cuts off") {
  const SysfsTree tree;
  tree.device(kAta, "8:0");
  add_inquiry(tree, kAta, "ATA", "Very Long Name o", "2B6Q");
  const auto look = [&] { return drive_under(tree, 8, 0); };

  SUBCASE("which is all there is without help") {
    CHECK(look().model == "Very Long Name o");
    CHECK(look().firmware == "2B6Q");
    CHECK(look().serial.empty());
  }
  SUBCASE("by the drive's own page") {
    tree.file(kAta + "/device/vpd_pg89",
              identify_page("Very Long Name of a Drive 1TB", "  S5Y2NF0R", "SVT02B6Q"));
    CHECK(look().model == "Very Long Name of a Drive 1TB");
    CHECK(look().firmware == "SVT02B6Q");
    CHECK(look().serial == "S5Y2NF0R");
  }
  SUBCASE("but not by a torn page") {
    tree.file(kAta + "/device/vpd_pg89", identify_page("Other", "X", "Y").substr(0, 100));
    CHECK(look().model == "Very Long Name o");
  }
  SUBCASE("by what udev asked for") {
    tree.udev("8:0",
              "S:disk/by-id/ata-x\nE:ID_ATA=1\n"
              "E:ID_MODEL_ENC=Very\\x20Long\\x20Name\\x20of\\x20a\\x20Drive\\x20\\x20\n"
              "E:ID_SERIAL_SHORT=S5Y2NF0R\nE:ID_REVISION=SVT02B6Q\n");
    CHECK(look().model == "Very Long Name of a Drive");
    CHECK(look().firmware == "SVT02B6Q");
    CHECK(look().serial == "S5Y2NF0R");
  }
  CHECK(look().transport == "sata");
}

TEST_CASE("a SCSI drive has a vendor and its serial number on page 80h") {
  const SysfsTree tree;
  const std::string path =
      "devices/pci0000:00/host2/port-2:0/end_device-2:0/target2:0:0/2:0:0:0/block/sdb";
  tree.device(path, "8:16");
  add_inquiry(tree, path, "MAKER", "MG08SCA16TE", "0102");
  tree.file(path + "/device/vpd_pg80", std::string("\0\x80\0\x08", 4) + "  9AB0C1");
  const DeviceIdentity drive = drive_under(tree, 8, 16);
  CHECK(drive.model == "MAKER MG08SCA16TE");
  CHECK(drive.serial == "9AB0C1");
  CHECK(drive.firmware == "0102");
  CHECK(drive.transport == "sas");
}

TEST_CASE("a USB stick has the serial number of its USB device") {
  const SysfsTree tree;
  const std::string usb = "devices/pci0000:00/0000:00:14.0/usb2/2-1";
  const std::string path = usb + "/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdc";
  tree.file(usb + "/idVendor", "0781\n");
  tree.file(usb + "/serial", "4C530001\n");
  tree.device(path, "8:32");
  add_inquiry(tree, path, "SanDisk", "Ultra", "1.00");
  const DeviceIdentity drive = drive_under(tree, 8, 32);
  CHECK(drive.model == "SanDisk Ultra");
  CHECK(drive.serial == "4C530001");
  CHECK(drive.transport == "usb");
}

TEST_CASE("virtio, memory cards and memory are told apart") {
  const SysfsTree tree;
  const std::string disk = "devices/pci0000:00/0000:00:02.0/virtio1/block/vda";
  tree.device(disk, "254:0");
  tree.file(disk + "/serial", "disk-one");
  tree.file(disk + "/device/vendor", "0x1af4\n");
  const std::string card = "devices/platform/soc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
  tree.device(card, "179:0");
  tree.file(card + "/device/name", "SD64G\n");
  tree.file(card + "/device/serial", "0x1234abcd\n");
  tree.file(card + "/device/fwrev", "0x5\n");
  tree.device("devices/virtual/block/zram0", "253:0");
  CHECK(drive_under(tree, 254, 0).transport == "virtio");
  CHECK(drive_under(tree, 254, 0).serial == "disk-one");
  CHECK(drive_under(tree, 254, 0).model.empty());
  CHECK(drive_under(tree, 179, 0).transport == "mmc");
  CHECK(drive_under(tree, 179, 0).model == "SD64G");
  CHECK(drive_under(tree, 179, 0).firmware == "0x5");
  CHECK(drive_under(tree, 253, 0).transport == "ram");
}

TEST_CASE("what a drive says is fit for one line") {
  const SysfsTree tree;
  tree.device(kAta, "8:0");
  tree.file(kAta + "/device/model", "Bad\x1b[31m \xff  Disk\n");
  CHECK(drive_under(tree, 8, 0).model == "Bad?[31m ? Disk");
}

TEST_CASE("a mirror of encrypted partitions under LVM leads to every drive once") {
  const SysfsTree tree;
  const std::string a = add_drive(tree, "sda", "8:0"), b = add_drive(tree, "sdb", "8:16");
  tree.partition(a + "/sda1", "8:1");
  tree.partition(a + "/sda2", "8:2");
  tree.partition(b + "/sdb1", "8:17");
  const auto mapped = [&](const std::string& name, const std::string& number,
                          const std::string& called, const std::string& uuid) {
    const std::string path = "devices/virtual/block/" + name;
    tree.device(path, number);
    tree.file(path + "/dm/name", called + "\n");
    tree.file(path + "/dm/uuid", uuid + "\n");
    return path;
  };
  const std::string md = "devices/virtual/block/md0";
  tree.device(md, "9:0");
  tree.file(md + "/md/level", "raid1\n");
  tree.slave(md, a + "/sda1");
  tree.slave(md, b + "/sdb1");
  const std::string crypt = mapped("dm-1", "252:1", "secret", "CRYPT-LUKS2-abc-secret");
  tree.slave(crypt, md);
  const std::string volume = mapped("dm-2", "252:2", "vg-data", "LVM-xyz");
  tree.slave(volume, crypt);
  tree.slave(volume, a + "/sda2");
  const DeviceStack stack = identify_devices(makedev(252, 2), tree.sources());
  CHECK(names_of(stack) == Texts{"sda", "sdb"});
  CHECK(stack.layers == Texts{"vg-data (LVM)", "sda2 (partition)", "secret (crypt)",
                              "md0 (raid1 of 2)", "sda1 (partition)", "sdb1 (partition)"});
}

TEST_CASE("many paths to one drive are one drive") {
  const SysfsTree tree;
  const std::string path = "devices/virtual/block/dm-0";
  tree.device(path, "252:0");
  tree.file(path + "/dm/name", "mpatha\n");
  tree.file(path + "/dm/uuid", "mpath-3600\n");
  tree.slave(path, add_drive(tree, "sda", "8:0"));
  tree.slave(path, add_drive(tree, "sdb", "8:16"));
  const DeviceStack stack = identify_devices(makedev(252, 0), tree.sources());
  CHECK(names_of(stack) == Texts{"sda"});
  CHECK(stack.layers == Texts{"mpatha (multipath)"});
}

TEST_CASE("a loop device leads to the drive that its file lies on, files on files too") {
  const SysfsTree tree;
  add_nvme(tree);
  for (const char* name : {"loop0", "loop1"}) {
    const std::string path = fmt::format("devices/virtual/block/{}", name);
    tree.device(path, name == std::string("loop0") ? "7:0" : "7:1");
    tree.file(path + "/loop/backing_file", fmt::format("/on-{}\n", name));
  }
  DeviceSources sources = tree.sources();
  sources.storage_of = [](const std::string& path) {
    return path == "/on-loop1" ? FileStorage{makedev(7, 0), "xfs"}
                               : FileStorage{makedev(259, 0), "ext4"};
  };
  const DeviceStack stack = identify_devices(makedev(7, 1), sources);
  CHECK(names_of(stack) == Texts{"nvme0n1"});
  CHECK(stack.layers == Texts{"file on xfs (loop device)", "file on ext4 (loop device)"});

  const DeviceStack image = identify_image("/an-image", sources);
  CHECK(names_of(image) == Texts{"nvme0n1"});
  CHECK(image.layers == Texts{"file on ext4"});
}

TEST_CASE("a file in memory or on a network has no drive") {
  const SysfsTree tree;
  tree.device("devices/virtual/block/loop0", "7:0");
  tree.file("devices/virtual/block/loop0/loop/backing_file", "/x\n");
  tree.device("devices/virtual/block/loop1", "7:1");
  DeviceSources sources = tree.sources();
  sources.storage_of = [](const std::string&) { return FileStorage{0, "tmpfs"}; };
  const DeviceStack stack = identify_devices(makedev(7, 0), sources);
  CHECK(stack.drives.empty());
  CHECK(stack.layers == Texts{"file on tmpfs (loop device)"});
  tree.file("devices/virtual/block/loop0/loop/dio", "0\n");
  CHECK(identify_devices(makedev(7, 0), sources).layers ==
        Texts{"file on tmpfs (loop device, buffered)"});
  tree.file("devices/virtual/block/loop0/loop/dio", "1\n");
  CHECK(identify_devices(makedev(7, 0), sources).layers == Texts{"file on tmpfs (loop device)"});
  CHECK(identify_devices(makedev(7, 1), sources).drives.empty());   // without a file
  CHECK(identify_devices(makedev(0, 44), sources).layers.empty());  // as of tmpfs itself
  CHECK(identify_devices(0, sources).drives.empty());
}

TEST_CASE("a btrfs of two devices lies on both, whichever was mounted") {
  const SysfsTree tree;
  const std::string a = add_drive(tree, "sda", "8:0"), b = add_drive(tree, "sdb", "8:16");
  tree.link("fs/btrfs/0000-1111/devices/sda", a);
  tree.link("fs/btrfs/0000-1111/devices/sdb", b);
  tree.file("fs/btrfs/features/raid56", "0\n");
  const DeviceStack stack = identify_devices(makedev(8, 16), tree.sources());
  CHECK(names_of(stack) == Texts{"sda", "sdb"});
  CHECK(stack.layers == Texts{"btrfs of 2"});
}

TEST_CASE("devices that lie on themselves or on endlessly many end") {
  const SysfsTree tree;
  SUBCASE("a cycle of slaves") {
    tree.device("devices/virtual/block/dm-0", "252:0");
    tree.device("devices/virtual/block/dm-1", "252:1");
    tree.slave("devices/virtual/block/dm-0", "devices/virtual/block/dm-1");
    tree.slave("devices/virtual/block/dm-1", "devices/virtual/block/dm-0");
    CHECK(identify_devices(makedev(252, 0), tree.sources()).drives.empty());
  }
  SUBCASE("a file on itself") {
    tree.device("devices/virtual/block/loop0", "7:0");
    tree.file("devices/virtual/block/loop0/loop/backing_file", "/x\n");
    DeviceSources sources = tree.sources();
    sources.storage_of = [](const std::string&) { return FileStorage{makedev(7, 0), "ext4"}; };
    CHECK(identify_devices(makedev(7, 0), sources).layers.size() == 1);
  }
  SUBCASE("a tower") {
    constexpr int kFloors = 200;
    for (int i = 0; i < kFloors; ++i) {
      const std::string path = fmt::format("devices/virtual/block/dm-{}", i);
      tree.device(path, fmt::format("252:{}", i));
      tree.file(path + "/dm/name", fmt::format("floor{}\n", i));
      if (i > 0) tree.slave(path, fmt::format("devices/virtual/block/dm-{}", i - 1));
    }
    const DeviceStack stack = identify_devices(makedev(252, kFloors - 1), tree.sources());
    CHECK(stack.layers.size() > 8);
    CHECK(stack.layers.size() < kFloors);
  }
}

TEST_CASE("a page that the kernel shows and the drive has not is as if it were not there") {
  CHECK(read_sysfs("/proc/self").empty());  // can be opened, and every read fails
  const SysfsTree tree;
  tree.device(kAta, "8:0");
  tree.file(kAta + "/device/vpd_pg89/x", "");
  tree.file(kAta + "/device/vpd_pg80/x", "");
  CHECK(drive_under(tree, 8, 0).serial.empty());
}

TEST_CASE("this machine's own file systems are looked at without complaint") {
  CHECK(storage_of_file("/proc/self").device == 0);
  CHECK(storage_of_file("/no such folder/file").device == 0);
  CHECK(storage_of_file("/no such file").file_system == storage_of_file("/").file_system);
  for (const DeviceIdentity& drive : identify_devices(storage_of_file("/").device).drives) {
    CHECK_FALSE(drive.name.empty());
    CHECK(drive.size > 0);
  }
}

TEST_CASE("a hidden serial number still tells drives apart and is the same every time") {
  DeviceIdentity device;
  device.model = "Fast Disk 3";
  device.serial = "S1234567";
  DeviceIdentity other = device;
  CHECK(serial_digest(device) == serial_digest(other));
  CHECK(serial_digest(device).starts_with("hidden-"));
  CHECK(serial_digest(device).size() == 15);
  CHECK(serial_digest(device).find("S123") == std::string::npos);
  other.serial = "S1234568";
  CHECK(serial_digest(device) != serial_digest(other));
}

}  // namespace
}  // namespace filereel
