// Kernel layers between volumes and drives, with their state: md, device mapper, bcache.
//
// Documentation of the kernel files: Documentation/admin-guide/md.rst (md/*),
// Documentation/ABI/testing/sysfs-block-dm (dm/*), Documentation/admin-guide/bcache.rst (bcache/*).
// Status lines of device mapper targets:
// Documentation/admin-guide/device-mapper/{cache,writecache,dm-raid,thin-provisioning}.rst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replay/results/volume_description.h"

namespace filereel {

// A layer as stored in results.
struct Layer {
  std::string text;  // "md0 (raid5 of 4, chunk 512 KiB)"
  std::vector<LayerState> states;
};

// A target in a device mapper table: type, such as "cache", and status line.
struct DmTarget {
  std::string type, status;
};

// Queries /dev/mapper/control; empty without device mapper or permission.
std::vector<DmTarget> read_dm_targets(const std::string& name);

// `folder` is the device's sysfs directory. Nothing if the device is of another kind.
std::optional<Layer> read_md(const std::string& folder, std::size_t devices_below);
std::optional<Layer> read_bcache(const std::string& folder);
std::optional<Layer> read_dm(
    const std::string& folder,
    const std::function<std::vector<DmTarget>(const std::string& name)>& targets_of);

}  // namespace filereel
