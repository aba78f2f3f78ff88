#include "replay/results/hidden_serials.h"

#include <string>

#include <doctest/doctest.h>

#include "replay/results/result_json.h"
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
