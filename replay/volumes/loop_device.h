// An image file, or part of a block device, as a block device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// The bytes of a file or block device that a loop device shows.
struct LoopRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;        // 0: to the end
  std::uint32_t block_size = 0;  // of its sectors; 0: the kernel's own
};

// Detaches itself when it is destroyed and also when the process dies, once nothing is mounted on
// it.
class LoopDevice {
 public:
  // Of the open file or device `image`, which `name` stands for in messages. Uses direct I/O on it
  // where its file system can, so that no second cache lies below the one that is measured; over a
  // block device it reads ahead as far as that one does. Throws Error(failed).
  LoopDevice(int image, const std::string& name, const LoopRange& range = {});

  ~LoopDevice();
  LoopDevice(LoopDevice&&) = delete;

  const std::string& path() const { return path_; }  // "/dev/loop3"
  int descriptor() const { return device_.get(); }   // open for reading and writing
  dev_t number() const;

 private:
  void read_ahead_like(int device);

  std::string path_;
  Descriptor device_;
  std::optional<long> own_read_ahead_;  // that the device had; the kernel may keep it for the next
};

// Whether this process may set up loop devices.
bool loop_devices_available();

// The path of a loop device that uses the open file, or "".
std::string loop_device_of(int image);

}  // namespace filereel
