// Which drives a volume lies on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "replay/volumes/drive_identity.h"
#include "replay/volumes/file_storage.h"
#include "replay/volumes/layer_state.h"

namespace filereel {

// The drives under a block device, and what lies between.
struct DeviceStack {
  // From the file system down, each once: "sda1 (partition)", "vg-data (LVM cache, writeback)",
  // "md0 (raid5 of 4, chunk 512 KiB)", "file on ext4 (loop device)", "part (loop device)". No
  // numbers that change from run to run, such as those of loop and dm devices: results are compared
  // by these texts.
  std::vector<std::string> layers;
  std::vector<LayerState> states;      // of layers that have any, likewise
  std::vector<DeviceIdentity> drives;  // each once, in the order of the members
};

// Where to look; tests look at trees of their own.
struct DeviceSources {
  std::string sys = "/sys";
  std::string udev = "/run/udev/data";
  std::function<FileStorage(const std::string& path)> storage_of = storage_of_file;
  std::function<std::vector<DmTarget>(const std::string& name)> dm_targets = read_dm_targets;
};

// Goes down through partitions, device mapper, md, loop devices and the like to the drives. Nothing
// for what has no block device: tmpfs, network file systems.
DeviceStack identify_devices(dev_t device, const DeviceSources& sources = {});

// The same for an image that a program serves without a loop device.
DeviceStack identify_image(const std::string& path, const DeviceSources& sources = {});

}  // namespace filereel
