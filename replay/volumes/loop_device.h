// Loop devices: an image file or part of a block device as a block device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// The byte range of a file or block device that a loop device maps.
struct LoopRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;        // 0: to the end
  std::uint32_t block_size = 0;  // sector size; 0: kernel default
};

// Detaches on destruction or when the process dies, as soon as nothing is mounted on it.
class LoopDevice {
 public:
  // Sets up a loop device for the open file or device `image`; `name` is its name in messages. Uses
  // direct I/O if the file system supports it, so that there is no second cache below the measured
  // one. On a block device, uses the read-ahead of that device. Throws Error(failed).
  LoopDevice(int image, const std::string& name, const LoopRange& range = {});

  ~LoopDevice();
  LoopDevice(LoopDevice&&) = delete;

  const std::string& path() const { return path_; }  // "/dev/loop3"
  int descriptor() const { return device_.get(); }   // open for reading and writing
  dev_t number() const;

 private:
  void copy_read_ahead(int device);

  std::string path_;
  Descriptor device_;
  std::optional<long> own_read_ahead_;  // original value; the kernel may keep it for the next user
};

// Whether this process may set up loop devices.
bool loop_devices_available();

// Path of a loop device that uses the open file, or "".
std::string loop_device_of(int image);

}  // namespace filereel
