// Block devices: what is on them, who uses them, what went through them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "replay/volumes/target.h"

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

// Of the block device of that name; 0 if it is none.
dev_t device_number(const std::string& path);

// What the file "dev" of a folder in sysfs says.
std::optional<dev_t> number_in_sysfs(const std::string& folder);

// Throws Error(usage) unless one of `destroy` names all of the target, which `fd` is, a block
// device that may be open with O_PATH alone.
void check_named(int fd, const Target& target, std::span<const Target> destroy);

// Who uses a device.
struct DeviceUse {
  // Loop devices that may lie on it, or beside it on the same device: the run's own.
  std::span<const dev_t> own = {};
  bool held = false;  // this process has it open with O_EXCL, so that nobody else can
};

// Throws Error(failed) unless `fd`, likewise, is a block device that nobody uses: not mounted (nor
// its partitions), no swap space, held by no other device or loop device, open for writing by no
// other process that can be seen; and unless it can be written. `path` stands for it in messages.
void check_unused(int fd, const std::string& path, const DeviceUse& use = {});

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
