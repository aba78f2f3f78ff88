// Block devices and parts of them: where they lie on a disk, and the devices that a run holds.
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

// Bytes of a whole disk: of a partition those that it has there.
struct DiskRange {
  dev_t device = 0;  // as it was named
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

// Of a block device or a part of one. Throws Error(usage): it is none, or the part does not lie
// within it.
DiskRange range_of(const Target& target);
// The same of a device of that number.
DiskRange range_of(const Target& target, dev_t device, const std::string& sys = "/sys");

// A block device of which a run uses parts. As long as it lives nobody else can mount the device or
// its partitions, or make it part of another one; the loop devices of the parts keep it so when the
// process has died, until they are gone.
struct HeldDevice {
  Descriptor file;  // open for reading and writing, with O_EXCL, and locked (flock)
  dev_t number = 0;
  std::vector<dev_t> parts;  // the loop devices of the run's own parts
};

// The devices that a run holds: its parts of one device share it.
class HeldDevices {
 public:
  // The device behind `node`, which may be open with O_PATH alone; if nobody holds it yet, it is
  // opened. `path` stands for it in messages. Throws Error(failed) if others use it.
  std::shared_ptr<HeldDevice> hold(int node, const std::string& path);
  // Those of the run's parts that lie on the device; none if it is not held.
  std::vector<dev_t> parts_on(dev_t device) const;

 private:
  std::map<dev_t, std::weak_ptr<HeldDevice>> devices_;
};

}  // namespace filereel
