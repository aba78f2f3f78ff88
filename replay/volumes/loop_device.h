// An image file as a block device.
#pragma once

#include <string>

#include "filesets/descriptor.h"

namespace filereel {

// Detaches itself when it is destroyed and also when the process dies, once nothing is mounted on
// it.
class LoopDevice {
 public:
  // Uses direct I/O on the image where its file system can, so that no second cache lies below the
  // one that is measured. Throws Error(failed).
  explicit LoopDevice(const std::string& image);

  const std::string& path() const { return path_; }  // "/dev/loop3"
  int descriptor() const { return device_.get(); }   // open for reading and writing

 private:
  std::string path_;
  Descriptor device_;
};

// Whether this process may set up loop devices.
bool loop_devices_available();

// Waits up to `seconds` until no loop device uses `image` any more, as is the case shortly after a
// killed process held one. Returns the path of one that stays, or "".
std::string loop_device_in_use(const std::string& image, double seconds);

}  // namespace filereel
