// What results say about a volume: file system, drives and the layers between, share.
// replay/volumes finds it out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/path_table.h"

namespace filereel {

enum class TargetKind : std::uint8_t { directory, image, block_device };

std::string_view target_kind_name(TargetKind kind);  // "directory", "image", "block device"

// A whole drive, as reported by its driver and its queue. Texts are "" if the kernel has none.
struct DeviceIdentity {
  std::string name;  // the kernel's name: "nvme0n1"
  std::string model, serial, firmware;
  std::string transport;   // "nvme", "sata", "sas", "usb", "virtio", "mmc" …
  std::uint64_t size = 0;  // bytes
  std::optional<bool> rotational;
  std::string scheduler;                                // the active one
  std::string write_cache;                              // "write back" or "write through"
  std::uint32_t logical_block = 0, physical_block = 0;  // bytes
  std::uint32_t queue_requests = 0;                     // nr_requests
  std::uint32_t read_ahead_kib = 0;

  bool operator==(const DeviceIdentity&) const = default;
};

// In layers: a loop device without direct I/O.
inline constexpr std::string_view kBufferedLoop = "loop device, buffered";

struct LayerState {
  std::string layer;                          // name: "md0", "vg-data"
  std::string state;                          // "clean", "degraded", "recovering", "no cache" …
  std::optional<std::uint32_t> missing = {};  // number of disks, if degraded
  std::optional<double> done = {};            // progress of a recovery or the like, 0 to 1

  bool operator==(const LayerState&) const = default;
};

// Whether the layer is slower than normal: degraded, or busy with maintenance.
bool is_impaired(const LayerState& state);

// "md0 is degraded (1 disk missing)"; without the progress, which changes every second.
std::string state_text(const LayerState& state);

// Texts are "" if the mount does not tell.
struct NetworkShare {
  std::string protocol;   // with its version: "nfs 4.2", "smb 3.1.1", "sshfs"
  std::string transport;  // "tcp", "rdma", "o2ib", "virtio" …
  std::string source;     // server and exported path as mounted, without the user: "nas:/data"
  std::string server;     // host name or address in the source
  std::string address;    // of the server, numeric
  std::string interface;  // on the route to the address: "eth0"
  std::optional<std::uint32_t> link_mbit_per_s = {};  // speed of the interface

  bool operator==(const NetworkShare&) const = default;
};

// Values by name: "block size" → "4096". Sets of flags are words in one value, of the name
// kFeatureList. Empty for file systems without a device, such as tmpfs and network shares.
using FeatureValues = std::map<std::string, std::string>;
inline constexpr std::string_view kFeatureList = "features";

// Description of a volume in a result.
struct VolumeDescription {
  Role role = Role::near;
  std::string target;       // as on the command line
  std::string target_kind;  // target_kind_name
  std::string file_system;  // "ext4"; for a directory the kernel's type
  std::string driver;       // "kernel" or the FUSE program
  std::string mount_options;
  std::string age;                           // "fresh" or "used"
  std::uint64_t size = 0;                    // bytes
  std::vector<DeviceIdentity> drives = {};   // all drives under the volume
  std::vector<std::string> layers = {};      // see DeviceStack
  std::vector<LayerState> states = {};       // of layers that can be degraded or the like
  std::optional<std::uint64_t> start = {};   // bytes; of a part of a block device
  std::string part = {};                     // its name if a run uses several: "begin"
  std::optional<NetworkShare> network = {};  // of a directory on a network file system
  FeatureValues features = {};               // see FileSystemFeatures
  std::string features_unknown = {};
  std::optional<double> used = {};  // share in use before the first step, 0 to 1
};

// A name that a volume could not store unchanged.
struct EscapedPath {
  std::string original, escaped;
};

}  // namespace filereel
