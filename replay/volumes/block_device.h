// Block devices and parts of them: contents, users and I/O counters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/statvfs.h>
#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/target.h"

namespace filereel {

// --- Ranges of block devices and their parts on a disk, and the devices held by a run.

// A byte range of a whole disk; for a partition its range on that disk.
struct DiskRange {
  dev_t device = 0;  // as named
  dev_t disk = 0;    // the device itself, or the one that it is a partition of
  std::uint64_t begin = 0, end = 0;

  std::uint64_t size() const { return end - begin; }
  bool covers(const DiskRange& other) const {
    return disk == other.disk && begin <= other.begin && end >= other.end;
  }
  bool overlaps(const DiskRange& other) const {
    return disk == other.disk && begin < other.end && other.begin < end;
  }
};

// The range of a block device or a part of one. Throws Error(usage) if it is not a block device or
// the part is not within it.
DiskRange range_of(const Target& target);
// The same for a device number.
DiskRange range_of(const Target& target, dev_t device, const std::string& sys = "/sys");

// A block device with parts used by a run. While it exists, no one else can mount the device or its
// partitions or add it to another device. After the process has died, the loop devices of the parts
// still prevent that until they are gone.
struct HeldDevice {
  Descriptor file;  // open for reading and writing, with O_EXCL, and locked (flock)
  dev_t number = 0;
  std::vector<dev_t> parts;  // the loop devices of the run's own parts
};

// The devices held by a run, shared by their parts.
class HeldDevices {
 public:
  // Returns the held device of `node` (O_PATH is sufficient) and opens it if necessary. `path` is
  // its name in messages. Throws Error(failed) if something else uses it.
  std::shared_ptr<HeldDevice> hold(int node, const std::string& path);
  // The run's parts on the device; empty if it is not held.
  std::vector<dev_t> parts_on(dev_t device) const;

 private:
  std::map<dev_t, std::weak_ptr<HeldDevice>> devices_;
};

// --- Block devices: contents, users and I/O counters.

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
