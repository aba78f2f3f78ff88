// Block devices: contents, users and I/O counters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/statvfs.h>
#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/target.h"

namespace filereel {

// Contents of a block device or image file according to libblkid.
struct DeviceContents {
  std::string type;   // "ext4", "crypto_LUKS", "gpt"; "" if nothing is recognised
  std::string label;  // of a file system
  std::string uuid;   // of a file system; on FAT and NTFS the serial number
};

// `fd` must be open for reading. Unreadable devices have no contents.
DeviceContents probe_contents(int fd);

// Size in bytes of the block device or file `fd`; 0 if unknown.
std::uint64_t device_size(int fd);

// Number of the named block device; 0 if it is not one.
dev_t device_number(const std::string& path);

// The device number in the "dev" file of a sysfs directory.
std::optional<dev_t> number_in_sysfs(const std::string& folder);

// Throws Error(usage) unless one of `destroy` covers the whole target. `fd` is the target, a block
// device; O_PATH is sufficient.
void check_destroy_allowed(int fd, const Target& target, std::span<const Target> destroy);

// Expected users of a device.
struct DeviceUse {
  // Loop devices of this run, which may be on the device or on the same backing device.
  std::span<const dev_t> own = {};
  bool held = false;  // this process has it open with O_EXCL, which excludes others
};

// Opens a device (O_PATH is sufficient) for reading and writing with O_EXCL; if that fails, the
// result is empty and errno is set. Waits up to two seconds for programs that use it for a moment:
// udev, blkid, and losetup in search of a free device open and lock devices of others.
Descriptor open_alone(int node);
// Locks an open device (flock), after the same wait. Throws Error(failed) if another program has
// locked it. `path` is its name in messages.
void lock_alone(int device, const std::string& path);

// Throws Error(failed) unless `fd` (O_PATH is sufficient) is a writable block device that nothing
// uses: it and its partitions are not mounted, not swap space, not held by another device or loop
// device, and not open for writing by another visible process. `path` is its name in messages.
void check_unused(int fd, const std::string& path, const DeviceUse& use = {});

// Bytes transferred by a block device since boot.
struct DeviceCounters {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  dev_t device = 0;
};

// The size of the volume that a mounted file system is on, in bytes: that of the device, of which
// the file system takes a part for itself. A quota, or a file system that does not fill its device,
// leaves less. 0 if unknown. `device`: 0 for none.
std::uint64_t size_of_volume(const struct statvfs& info, dev_t device);

// Nothing for file systems without a block device: tmpfs, network file systems.
std::optional<DeviceCounters> read_device_counters(dev_t device);

// Of a whole drive by its kernel name, such as "nvme0n1".
std::optional<DeviceCounters> read_drive_counters(const std::string& name);

}  // namespace filereel
