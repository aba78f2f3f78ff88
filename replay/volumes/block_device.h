// Block devices: what is on them, who uses them, which drive they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace filereel {

// What libblkid finds on a block device or in an image file.
struct DeviceContents {
  std::string type;   // "ext4", "crypto_LUKS", "gpt"; "" if nothing is recognised
  std::string label;  // of a file system
};

// `path` must be readable; an unreadable one has no contents.
DeviceContents probe_contents(const std::string& path);

// Bytes of a block device or file behind `fd`; 0 if that cannot be told.
std::uint64_t device_size(int fd);

// Throws Error unless `path` is a block device that may be formatted: named in `destroy`, not
// mounted (nor its partitions), no swap space, held by no other device, not in use, and writable.
void check_may_format(const std::string& path, const std::vector<std::string>& destroy);

// The drive behind a block device: the disk of a partition, the drive under a loop device's file.
struct DeviceIdentity {
  std::string name;  // the kernel's name of the whole disk: "nvme0n1"; "" where there is none
  std::string model, serial, firmware;
  std::uint64_t size = 0;  // bytes
  std::optional<bool> rotational;
  std::string scheduler;  // the active one
};

DeviceIdentity identify_device(dev_t device);

// What has gone through a block device since the machine started, in bytes.
struct DeviceCounters {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  dev_t device = 0;
};

// Nothing for what has no such device: tmpfs, network file systems.
std::optional<DeviceCounters> read_device_counters(dev_t device);

}  // namespace filereel
