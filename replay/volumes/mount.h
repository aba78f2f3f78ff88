// Mounts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/ownership/state_directory.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/mount_info.h"
#include "filesets/system/process.h"
#include "replay/volumes/file_system.h"

namespace filereel {

// What this process may mount.
enum class MountPower : std::uint8_t {
  none,       // nothing: directories only
  fuse_only,  // FUSE programs on image files, in a user namespace
  full,       // kernel file systems, loop and block devices
};

// Moves the process into a mount namespace of its own, so that the kernel undoes every mount when
// the process ends, be it by SIGKILL; unmounts made outside still arrive inside. Without privileges
// it tries a user namespace. To be called once, before any thread is started.
MountPower enter_mount_namespace();

// The same without entering: what it would return. Safe with threads.
MountPower probe_mount_power();

// Whether the running kernel has the driver (asking it to load the module if there is one), and
// whether a FUSE program is there and FUSE works.
bool kernel_has(const FileSystemInfo& info);
bool fuse_has(const FileSystemInfo& info);

// The driver for `kind`: the kernel's first, then FUSE; nothing if neither is there.
std::optional<Driver> choose_driver(FileSystemKind kind, MountPower power);

// A mounted file system at a directory of its own in the state directory; unmounts when destroyed.
class Mount {
 public:
  // Mounts `source` (a block device, or for FUSE an image file too). `label` becomes part of the
  // directory's name. Throws Error(failed).
  Mount(FileSystemKind kind, const Driver& driver, const std::string& source,
        std::string_view label);
  Mount(Mount&&) = delete;
  ~Mount();

  int root() const { return root_.get(); }
  const std::string& path() const { return path_; }

  // Unmounts, and for FUSE waits until the driver has written everything and ended. Throws
  // Error(failed) if it does not work.
  void unmount();

  // The FUSE program's processor time so far in seconds; 0 for a kernel driver.
  double driver_cpu_s() const;

 private:
  void make_mount_point();
  void remove_mount_point();
  void mount_kernel(FileSystemKind kind, const Driver& driver, const std::string& source);
  void mount_fuse(FileSystemKind kind, const std::string& source);

  StateDirectory state_;
  std::string name_;  // of the mount point in it
  std::string path_;
  std::optional<Lease> lease_;
  Descriptor root_;
  std::optional<ChildProcess> daemon_;
  bool mounted_ = false;
};

}  // namespace filereel
