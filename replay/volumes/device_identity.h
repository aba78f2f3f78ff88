// Identifies the drives under a volume.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "replay/results/volume_description.h"
#include "replay/volumes/drive_identity.h"
#include "replay/volumes/file_storage.h"
#include "replay/volumes/layer_state.h"

namespace filereel {

// The drives under a block device, and the layers between.
struct DeviceStack {
  // From the file system down, each once: "sda1 (partition)", "vg-data (LVM cache, writeback)",
  // "md0 (raid5 of 4, chunk 512 KiB)", "file on ext4 (loop device)", "part (loop device)". Without
  // numbers that change between runs, such as those of loop and dm devices, because results are
  // compared by these texts.
  std::vector<std::string> layers;
  std::vector<LayerState> states;      // of the layers that have a state, in the same order
  std::vector<DeviceIdentity> drives;  // each once, in member order
};

// Data sources, replaceable for tests.
struct DeviceSources {
  std::string sys = "/sys";
  std::string udev = "/run/udev/data";
  std::function<FileStorage(const std::string& path)> storage_of = storage_of_file;
  std::function<std::vector<DmTarget>(const std::string& name)> dm_targets = read_dm_targets;
};

// Follows partitions, device mapper, md, loop devices and the like down to the drives. Empty for
// file systems without a block device: tmpfs, network file systems.
DeviceStack identify_devices(dev_t device, const DeviceSources& sources = {});

// The same for an image that a FUSE program serves without a loop device.
DeviceStack identify_image(const std::string& path, const DeviceSources& sources = {});

}  // namespace filereel
