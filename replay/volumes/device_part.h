// Ranges of block devices and their parts on a disk, and the devices held by a run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/target.h"

namespace filereel {

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

}  // namespace filereel
