// Identifies the drives under a file or volume, and the layers between.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "replay/results/volume_description.h"
#include "replay/volumes/layer_state.h"

namespace filereel {

// --- Reads the identity of a drive.

// `folder` is the drive's directory below `sys`, without symbolic links:
// "/sys/devices/…/nvme/nvme0/nvme0n1". `udev` is the directory of udev's database.
DeviceIdentity read_drive_identity(const std::string& folder, const std::string& sys,
                                   const std::string& udev);

// --- Finds the block device under a file.

struct FileStorage {
  dev_t device = 0;         // block device; 0: none or unknown
  std::string file_system;  // kernel name; "" if unknown
  bool is_device = false;   // the file is the block device itself
};

// For a file or directory, or for the parent of a removed one. If the kernel reports numbers
// without a device (btrfs, overlay, FUSE), the mount source or the upper directory is used.
FileStorage storage_of_file(const std::string& path);

// --- Identifies the drives under a volume.

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
