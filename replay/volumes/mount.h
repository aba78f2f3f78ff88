// Loop devices and mounts, and what this process may mount.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/mounts.h"
#include "filesets/system/programs.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/format.h"

namespace filereel {

// --- Loop devices: an image file or part of a block device as a block device.

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

// --- Mounts file systems.

// Mount capabilities of this process.
enum class MountCapability : std::uint8_t {
  none,       // directories only
  fuse_only,  // FUSE programs on image files, in a user namespace
  full,       // kernel file systems, loop and block devices
};

// Moves the process into its own mount namespace, so that the kernel undoes every mount when the
// process ends, even by SIGKILL. Unmounts outside propagate to the inside. Without privileges it
// tries a user namespace. Call once, before any thread starts.
MountCapability enter_mount_namespace();

// Returns what enter_mount_namespace would return, without entering. Thread-safe.
MountCapability probe_mount_capability();

// Whether the running kernel has the driver (loading the module if necessary), and whether a FUSE
// program is installed and FUSE works.
bool kernel_has(const FileSystemInfo& info);
bool fuse_has(const FileSystemInfo& info);

// The driver for `kind`: the kernel's or else FUSE; nothing if neither is available.
std::optional<Driver> choose_driver(FileSystemKind kind, MountCapability power);

// A file system mounted on its own directory in the state directory. Unmounts on destruction.
class Mount {
 public:
  // Mounts `source` (a block device; for FUSE also an image file). `label` becomes part of the
  // directory's name. Throws Error(failed).
  Mount(const Format& format, const Driver& driver, const std::string& source,
        std::string_view label);
  Mount(Mount&&) = delete;
  ~Mount();

  int root() const { return root_.get(); }
  const std::string& path() const { return path_; }

  // Unmounts, and for FUSE waits until the driver has written everything and exited. Throws
  // Error(failed).
  void unmount();

  // The FUSE program; nothing for a kernel driver.
  std::optional<pid_t> driver() const;

 private:
  void make_mount_point();
  void remove_mount_point();
  void mount_kernel(const Format& format, const Driver& driver, const std::string& source);
  void mount_fuse(const Format& format, const std::string& source);
  // Waits until the driver serves. Returns its exit status if it ends instead.
  std::optional<int> await_fuse(std::string_view program, const std::string& source);

  StateDirectory state_;
  std::string name_;  // of the mount point in state_
  std::string path_;
  std::optional<Lease> lease_;
  Descriptor root_;
  std::optional<ChildProcess> daemon_;
  bool mounted_ = false;
};

}  // namespace filereel
