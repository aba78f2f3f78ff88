// What the files hold is kept from a machine with Linux 6.1 (arrays of 96 MiB on loop devices), and
// from the kernel's documents for what that machine did not have (layer_state.h).
#include "replay/volumes/layer_state.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/sysmacros.h>

#include "replay/volumes/device_identity.h"
#include "tests/replay/sysfs_tree.h"

namespace filereel {
namespace {

using States = std::vector<LayerState>;

const std::string kMd = "devices/virtual/block/md0";

struct Md {
  std::string level, disks, array, degraded, action, completed, chunk;
};

Layer md(const Md& said) {
  const SysfsTree tree;
  const auto file = [&](const char* name, const std::string& text) {
    if (!text.empty()) tree.file(kMd + "/md/" + name, text + "\n");
  };
  file("level", said.level);
  file("raid_disks", said.disks);
  file("array_state", said.array);
  file("degraded", said.degraded);
  file("sync_action", said.action);
  file("sync_completed", said.completed);
  file("chunk_size", said.chunk);
  return read_md(tree.sys() + "/" + kMd, 1).value();
}

TEST_CASE("a complete array is clean, whatever is being written") {
  for (const char* state : {"clean", "active", "active-idle", "write-pending", "read-auto"}) {
    const Layer layer = md({"raid1", "2", state, "0", "idle", "none", "0"});
    CHECK(layer.text == "md0 (raid1 of 2)");
    CHECK(layer.states == States{{"md0", "clean"}});
    CHECK_FALSE(is_impaired(layer.states[0]));
  }
}

TEST_CASE("an array without redundancy has chunks and cannot be degraded") {
  const Layer layer = md({"raid0", "2", "clean", "", "", "", "65536"});
  CHECK(layer.text == "md0 (raid0 of 2, chunk 64 KiB)");
  CHECK(layer.states == States{{"md0", "clean"}});
}

TEST_CASE("an array that has lost a disk is degraded, and still as large as it should be") {
  const Layer layer = md({"raid1", "2", "clean", "1", "idle", "none", "0"});
  CHECK(layer.text == "md0 (raid1 of 2)");
  CHECK(layer.states == States{{"md0", "degraded", 1}});
  CHECK(is_impaired(layer.states[0]));
  CHECK(state_text(layer.states[0]) == "md0 is degraded (1 disk missing)");
  const Layer two = md({"raid6", "6 (5)", "active", "2", "idle", "none", "524288"});
  CHECK(two.text == "md0 (raid6 of 6, chunk 512 KiB)");
  CHECK(state_text(two.states.at(0)) == "md0 is degraded (2 disks missing)");
}

TEST_CASE("an array that is busy with itself says how far it is") {
  const Layer recovering = md({"raid1", "2", "clean", "1", "recover", "12288 / 194560", "0"});
  REQUIRE(recovering.states.size() == 2);
  CHECK(recovering.states[0] == LayerState{"md0", "degraded", 1});
  CHECK(recovering.states[1].state == "recovering");
  CHECK(recovering.states[1].done == doctest::Approx(0.0632).epsilon(0.001));
  CHECK(state_text(recovering.states[1]) == "md0 is recovering");  // and not how far
  const std::pair<const char*, const char*> actions[] = {{"resync", "resyncing"},
                                                         {"reshape", "reshaping"},
                                                         {"check", "checking"},
                                                         {"repair", "repairing"}};
  for (const auto& [action, text] : actions) {
    const Layer layer = md({"raid5", "3", "clean", "0", action, "delayed", "65536"});
    CHECK(layer.states == States{{"md0", text}});
    CHECK(is_impaired(layer.states[0]));
  }
}

TEST_CASE("an array that cannot be written says so") {
  const Layer layer = md({"raid5", "3", "readonly", "1", "idle", "none", "65536"});
  CHECK(layer.states == States{{"md0", "degraded", 1}, {"md0", "readonly"}});
}

TEST_CASE("numbers that make no sense are no share") {
  for (const char* odd : {"", "none", "/", "5 / 0", "9 / 8", "x / 8"}) {
    CAPTURE(odd);
    const States states = md({"raid1", "2", "clean", "0", "resync", odd, "0"}).states;
    REQUIRE(states.size() == 1);
    CHECK(states[0].done.value_or(0) == 0);
  }
}

const std::string kDm = "devices/virtual/block/dm-0";

Layer dm(const std::vector<DmTarget>& targets, const std::string& uuid = "LVM-xyz",
         const std::string& suspended = "0") {
  const SysfsTree tree;
  tree.file(kDm + "/dm/name", "vg-data\n");
  tree.file(kDm + "/dm/uuid", uuid + "\n");
  tree.file(kDm + "/dm/suspended", suspended + "\n");
  return read_dm(tree.sys() + "/" + kDm,
                 [&](const std::string& name) {
                   CHECK(name == "vg-data");
                   return targets;
                 })
      .value();
}

TEST_CASE("what passes everything on has no state, and its type says nothing") {
  CHECK(dm({}).text == "vg-data (LVM)");
  CHECK(dm({{"linear", ""}, {"linear", ""}}).text == "vg-data (LVM)");
  CHECK(dm({{"linear", ""}}).states.empty());
  CHECK(dm({{"crypt", ""}}, "CRYPT-LUKS2-x").text == "vg-data (crypt)");
  CHECK(dm({{"striped", "2 8:0 8:16 1 AA"}}).text == "vg-data (LVM striped)");
  CHECK(dm({}, "LVM-xyz", "1").states == States{{"vg-data", "suspended"}});
}

TEST_CASE("caches say how they write, and that they failed") {
  const Layer cache = dm({{"cache",
                           "8 8/24576 512 0/384 0 0 0 0 0 0 0 1 writeback 2 migration_threshold "
                           "2048 smq 0 rw -"}});
  CHECK(cache.text == "vg-data (LVM cache, writeback)");
  CHECK(cache.states.empty());
  CHECK(dm({{"cache", "8 8/24576 512 0/384 0 0 0 0 0 0 0 1 writethrough 0 smq 0 rw needs_check"}})
            .states == States{{"vg-data", "needs check"}});
  CHECK(dm({{"cache", "Fail"}}).states == States{{"vg-data", "failed"}});
  CHECK(dm({{"writecache", "0 24480 24480 0 0 0 0 0 0 0 0 0 0 0"}}).states.empty());
  CHECK(dm({{"writecache", "-5 24480 24480 0"}}).states == States{{"vg-data", "failed"}});
}

TEST_CASE("thin pools that are full or read-only say so") {
  CHECK(dm({{"thin-pool", "0 2467/24576 0/1024 - rw discard_passdown queue_if_no_space - 1024"}})
            .states.empty());
  CHECK(dm({{"thin-pool", "1 406/4161 9/9 - out_of_data_space no_discard_passdown error - 1024"}})
            .states == States{{"vg-data", "out of space"}});
  CHECK(dm({{"thin-pool", "1 406/4161 9/9 - ro no_discard_passdown error - 1024"}}).states ==
        States{{"vg-data", "read-only"}});
  CHECK(dm({{"thin", "Fail"}}).text == "vg-data (LVM thin)");
}

TEST_CASE("the arrays of LVM are degraded and recover like those of md") {
  const Layer clean = dm({{"raid", "raid1 2 AA 131072/131072 idle 0 0 -"}});
  CHECK(clean.text == "vg-data (LVM raid1 of 2)");
  CHECK(clean.states == States{{"vg-data", "clean"}});
  CHECK(dm({{"raid", "raid1 2 A- 131072/131072 idle 0 0 -"}}).states ==
        States{{"vg-data", "degraded", 1}});
  CHECK(dm({{"raid", "raid6_zr 5 AADDA 10/10 idle 0 0 -"}}).states ==
        States{{"vg-data", "degraded", 2}});
  const Layer syncing = dm({{"raid", "raid1 2 aa 65536/131072 resync 0 0 -"}});
  CHECK(syncing.states == States{{"vg-data", "resyncing", {}, 0.5}});
  CHECK(dm({{"raid", "raid1"}}).states.empty());  // torn
}

TEST_CASE("a machine without device mapper has no tables") {
  CHECK(read_dm_targets("no such device").empty());
  CHECK(read_dm_targets(std::string(1000, 'x')).empty());
}

// bcache0 on sda, which shows the same folder.
DeviceStack bcache(const std::string& state, const std::string& modes) {
  const SysfsTree tree;
  const std::string sda = "devices/pci0000:00/ata1/block/sda";
  const std::string path = "devices/virtual/block/bcache0";
  tree.device(sda, "8:0");
  tree.device(path, "252:0");
  tree.slave(path, sda);
  for (const std::string& folder : {sda, path}) {
    tree.file(folder + "/bcache/state", state + "\n");
    tree.file(folder + "/bcache/cache_mode", modes + "\n");
  }
  return identify_devices(makedev(252, 0), tree.sources());
}

TEST_CASE("bcache says how it writes, and whether it has a cache") {
  const DeviceStack dirty = bcache("dirty", "writethrough [writeback] writearound none");
  CHECK(dirty.layers == std::vector<std::string>{"bcache0 (bcache, writeback)"});
  CHECK(dirty.states == States{{"bcache0", "dirty"}});
  CHECK(dirty.drives.size() == 1);
  CHECK_FALSE(is_impaired(dirty.states[0]));
  const DeviceStack without = bcache("no cache", "[writethrough] writeback writearound none");
  CHECK(is_impaired(without.states.at(0)));
  CHECK(state_text(without.states[0]) == "bcache0 has no cache");
  CHECK(is_impaired(bcache("inconsistent", "").states.at(0)));
  CHECK(bcache("clean", "").layers == std::vector<std::string>{"bcache0 (bcache)"});
}

TEST_CASE("a volume has the states of all layers below it") {
  const SysfsTree tree;
  const std::string sda = "devices/pci0000:00/ata1/block/sda";
  tree.device(sda, "8:0");
  tree.device(kMd, "9:0");
  tree.slave(kMd, sda);
  tree.file(kMd + "/md/level", "raid1\n");
  tree.file(kMd + "/md/raid_disks", "2\n");
  tree.file(kMd + "/md/array_state", "active\n");
  tree.file(kMd + "/md/degraded", "1\n");
  tree.device(kDm, "252:0");
  tree.slave(kDm, kMd);
  tree.file(kDm + "/dm/name", "vg-data\n");
  tree.file(kDm + "/dm/uuid", "LVM-xyz\n");
  DeviceSources sources = tree.sources();
  sources.dm_targets = [](const std::string&) {
    return std::vector<DmTarget>{
        {"cache", "8 8/9 512 0/384 0 0 0 0 0 0 0 1 writeback 0 smq 0 rw -"}};
  };
  const DeviceStack stack = identify_devices(makedev(252, 0), sources);
  CHECK(stack.layers ==
        std::vector<std::string>{"vg-data (LVM cache, writeback)", "md0 (raid1 of 2)"});
  CHECK(stack.states == States{{"md0", "degraded", 1}});
}

TEST_CASE("a loop device on a block device is that, or a part of it") {
  const SysfsTree tree;
  const std::string sda = "devices/pci0000:00/ata1/block/sda";
  const std::string loop = "devices/virtual/block/loop0";
  tree.device(sda, "8:0");
  tree.device(loop, "7:0");
  tree.file(loop + "/loop/backing_file", "/dev/sda\n");
  tree.file(loop + "/loop/offset", "0\n");
  tree.file(loop + "/loop/sizelimit", "0\n");
  DeviceSources sources = tree.sources();
  sources.storage_of = [](const std::string&) {
    return FileStorage{makedev(8, 0), "devtmpfs", true};
  };
  const auto layers = [&] { return identify_devices(makedev(7, 0), sources).layers; };
  CHECK(layers() == std::vector<std::string>{"loop device"});
  tree.file(loop + "/loop/sizelimit", "1048576\n");
  CHECK(layers() == std::vector<std::string>{"part (loop device)"});
  CHECK(identify_devices(makedev(7, 0), sources).drives.size() == 1);
}

}  // namespace
}  // namespace filereel
