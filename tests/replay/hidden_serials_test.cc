#include "replay/results/hidden_serials.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/result_json.h"
#include "replay/volumes/network_share.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

TEST_CASE("serial numbers are hidden everywhere in a volume") {
  VolumeDescription volume = volume_of(Role::near, "ext4", "kernel");
  volume.target = "image:/mnt/disk-S123/a.img";
  volume.layers = {"data-S123 (LVM)"};
  DeviceIdentity second = volume.drives[0];
  second.serial = "S124";
  volume.drives.push_back(second);
  hide_serials(volume);
  const std::string digest = volume.drives[0].serial;
  CHECK(digest.starts_with("hidden-"));
  CHECK(volume.drives[1].serial.starts_with("hidden-"));
  CHECK(volume.drives[1].serial != digest);
  CHECK(volume.target == "image:/mnt/disk-" + digest + "/a.img");
  CHECK(volume.layers.at(0) == "data-" + digest + " (LVM)");
  CHECK(volume.drives[0].model == "Fast Disk 3");
}

TEST_CASE("a drive without a serial number has no digest, and a short one leaves names alone") {
  VolumeDescription volume = volume_of(Role::near, "ext4", "kernel");
  volume.drives[0].serial = "1";
  hide_serials(volume);
  CHECK(volume.target == "/dev/sdb1");
  CHECK(volume.drives[0].serial.starts_with("hidden-"));
  volume.drives[0].serial.clear();
  hide_serials(volume);
  CHECK(volume.drives[0].serial.empty());
}

TEST_CASE("names in /dev/disk/by-id are hidden too") {
  VolumeDescription volume = volume_of(Role::near, "ext4", "kernel");
  volume.target = "/dev/disk/by-id/wwn-0x5000c500a0b1c2d3";
  hide_serials(volume);
  CHECK(volume.target == "/dev/disk/by-id/hidden");
}

TEST_CASE("server, address and path of a share are hidden everywhere in a volume") {
  VolumeDescription volume = network_volume();
  volume.target = "/net/nas.example.org/data/test";
  hide_serials(volume);
  const NetworkShare& share = *volume.network;
  CHECK(share.source == text_digest("nas.example.org:/data"));
  CHECK(share.server == text_digest("nas.example.org"));
  CHECK(share.address == text_digest("192.168.7.9"));
  CHECK(share.interface == "eth0");
  CHECK(volume.target ==
        "/net/" + text_digest("nas.example.org") + "/" + text_digest("data") + "/test");
  CHECK(volume.mount_options ==
        "rw,relatime,rw,vers=4.2,proto=tcp,clientaddr=" + text_digest("192.168.7.21") +
            ",addr=" + text_digest("192.168.7.9"));
  CHECK(volume.layers == std::vector<std::string>{"nfs 4.2 over tcp", "eth0 1000 Mbit/s"});
}

TEST_CASE("names of a share are hidden as words, and the short name of its server too") {
  VolumeDescription volume = network_volume();
  volume.target = "/mnt/nas/database/nas2/mydata/data";
  hide_serials(volume);
  CHECK(volume.target ==
        "/mnt/" + text_digest("nas") + "/database/nas2/mydata/" + text_digest("data"));
}

TEST_CASE("an interface named after its MAC address is hidden with the share") {
  VolumeDescription volume = network_volume();
  volume.network->interface = "enx0123456789ab";
  volume.layers = share_layers(*volume.network);
  hide_serials(volume);
  CHECK(volume.network->interface == text_digest("enx0123456789ab"));
  CHECK(volume.layers.at(1) == text_digest("enx0123456789ab") + " 1000 Mbit/s");
}

TEST_CASE("monitors, cluster numbers and any source are hidden") {
  VolumeDescription volume = network_volume();
  volume.mount_options = "rw,mon_addr=10.1.2.6:3300/10.1.2.7:3300,fsid=b3acfc0d,acl";
  volume.network = {"cephfs", "", "b3acfc0d.cephfs=/volumes/a", "", "10.1.2.6", ""};
  hide_serials(volume);
  CHECK(volume.mount_options == "rw,mon_addr=" + text_digest("10.1.2.6:3300/10.1.2.7:3300") +
                                    ",fsid=" + text_digest("b3acfc0d") + ",acl");
  CHECK(volume.network->source == text_digest("b3acfc0d.cephfs=/volumes/a"));
  CHECK(volume.network->server.empty());
  CHECK(volume.network->address == text_digest("10.1.2.6"));
}

TEST_CASE("a result has serial numbers unless they are hidden") {
  VolumeDescription volume = volume_of(Role::near, "ext4", "kernel");
  volume.target = "/mnt/disk-S123";
  Result result;
  CHECK(described(volume, result).target == "/mnt/disk-S123");
  result.serials_hidden = true;
  CHECK(described(volume, result).target.starts_with("/mnt/disk-hidden-"));
}

TEST_CASE("labels, notes, conditions and all drives come back from a result's file") {
  Result result = sample_result();
  result.label = "firmware 1.08 \x1b[31m\n\u00fc";
  result.note = "odd byte \xff";
  result.serials_hidden = true;
  result.host.kernel_build = "#1 SMP Debian 6.1.76-1";
  result.host.microcode = "0x1000065";
  Sample& sample = result.measurements[0].samples[0];
  sample.started_s = 12.5;
  sample.conditions.other_cpu = 0.25;
  sample.conditions.idle_device_bytes_per_s = 1e6;
  const Result got = result_from_json(result_to_json(result), "r.json");
  CHECK(got.label == result.label);
  CHECK(got.note.starts_with("odd byte "));
  CHECK(got.serials_hidden);
  CHECK(got.host.kernel_build == result.host.kernel_build);
  CHECK(got.host.microcode == "0x1000065");
  CHECK(got.volumes[0].drives.at(0).transport == "sata");
  CHECK(got.volumes[0].layers == result.volumes[0].layers);
  const Sample& same = got.measurements[0].samples[0];
  CHECK(same.started_s == 12.5);
  CHECK(same.conditions.other_cpu == 0.25);
  CHECK(same.conditions.idle_device_bytes_per_s == 1e6);
  CHECK_FALSE(same.conditions.volume_used);
  CHECK_FALSE(result_from_json(result_to_json(sample_result()), "r.json").serials_hidden);
}

}  // namespace
}  // namespace filereel
