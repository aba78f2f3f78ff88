// Block devices: what is on them, who uses them, what went through them.
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
  std::string uuid;   // likewise; on FAT and NTFS the serial number
};

// `fd` must be open for reading; what cannot be read has no contents.
DeviceContents probe_contents(int fd);

// Bytes of a block device or file behind `fd`; 0 if that cannot be told.
std::uint64_t device_size(int fd);

// Throws Error(usage) unless each of these paths is a block device.
void check_destroy(const std::vector<std::string>& paths);

// Throws Error unless `fd`, which may be open with O_PATH alone, is a block device that may be
// formatted: named in `destroy`, not mounted (nor its partitions), no swap space, held by no other
// device or loop device, open for writing by no other process that can be seen, and writable.
// `path` stands for it in messages.
void check_may_format(int fd, const std::string& path, const std::vector<std::string>& destroy);

// What has gone through a block device since the machine started, in bytes.
struct DeviceCounters {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  dev_t device = 0;
};

// Nothing for what has no such device: tmpfs, network file systems.
std::optional<DeviceCounters> read_device_counters(dev_t device);

// Of a whole drive by the kernel's name for it, such as "nvme0n1".
std::optional<DeviceCounters> read_drive_counters(const std::string& name);

}  // namespace filereel
