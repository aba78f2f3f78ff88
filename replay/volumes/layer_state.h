// Layers of the kernel between volumes and drives, with their state: md, device mapper, bcache.
//
// What the kernel's files hold: Documentation/admin-guide/md.rst (md/*), Documentation/ABI/testing/
// sysfs-block-dm (dm/*), Documentation/admin-guide/bcache.rst (bcache/*); the status lines of
// device mapper targets: Documentation/admin-guide/device-mapper/{cache,writecache,dm-raid,
// thin-provisioning}.rst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace filereel {

struct LayerState {
  std::string layer;                          // its name: "md0", "vg-data"
  std::string state;                          // "clean", "degraded", "recovering", "no cache" …
  std::optional<std::uint32_t> missing = {};  // disks, of what is degraded
  std::optional<double> done = {};            // share of a recovery and the like, 0 to 1

  bool operator==(const LayerState&) const = default;
};

// Whether the layer is slower now than it is otherwise: it has lost a part, or is busy with itself.
bool is_impaired(const LayerState& state);

// "md0 is degraded (1 disk missing)"; without the share that is done, which changes by the second.
std::string state_text(const LayerState& state);

// A layer as results tell it.
struct Layer {
  std::string text;  // "md0 (raid5 of 4, chunk 512 KiB)"
  std::vector<LayerState> states;
};

// A target of a device mapper's table: "cache", and its status line.
struct DmTarget {
  std::string type, status;
};

// By /dev/mapper/control; none where there is no device mapper, or it may not be asked.
std::vector<DmTarget> read_dm_targets(const std::string& name);

// `folder` is the device's in sysfs. Nothing if it is of another kind.
std::optional<Layer> read_md(const std::string& folder, std::size_t devices_below);
std::optional<Layer> read_bcache(const std::string& folder);
std::optional<Layer> read_dm(
    const std::string& folder,
    const std::function<std::vector<DmTarget>(const std::string& name)>& targets_of);

}  // namespace filereel
