// An image file as a block device.
#pragma once

#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

// Detaches itself when it is destroyed and also when the process dies, once nothing is mounted on
// it.
class LoopDevice {
 public:
  // Of the open file `image`, which `name` stands for in messages. Uses direct I/O on it where its
  // file system can, so that no second cache lies below the one that is measured. Throws
  // Error(failed).
  LoopDevice(int image, const std::string& name);

  const std::string& path() const { return path_; }  // "/dev/loop3"
  int descriptor() const { return device_.get(); }   // open for reading and writing

 private:
  std::string path_;
  Descriptor device_;
};

// Whether this process may set up loop devices.
bool loop_devices_available();

// The path of a loop device that uses the open file, or "".
std::string loop_device_of(int image);

}  // namespace filereel
