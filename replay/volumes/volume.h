// A place to replay on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/volumes/block_device.h"
#include "replay/volumes/device_identity.h"
#include "replay/volumes/device_part.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/target.h"
#include "traces/path_table.h"

namespace filereel {

// What a result says of a volume.
struct VolumeDescription {
  Role role = Role::near;
  std::string target;       // as on the command line
  std::string target_kind;  // target_kind_name
  std::string file_system;  // "ext4"; for a directory what the kernel calls it
  std::string driver;       // "kernel" or the FUSE program
  std::string mount_options;
  std::string age;                          // "fresh" or "used"
  std::uint64_t size = 0;                   // bytes
  std::vector<DeviceIdentity> drives = {};  // all that the volume lies on
  std::vector<std::string> layers = {};     // see DeviceStack
  std::vector<LayerState> states = {};      // of layers that can be degraded and the like
  std::optional<std::uint64_t> start = {};  // bytes; of a part of a block device
  std::string part = {};                    // its name, where a run goes through several: "begin"
};

// How cold the caches were when a step began.
struct Coldness {
  std::string method;            // "remount", "drop_caches", "fadvise", or "warm" on purpose
  std::optional<double> cached;  // share of the bytes that could be cached and were, 0 to 1
};

// Two implementations: a directory, and a file system that filereel makes and mounts on an image or
// a block device. All members but the destructor throw Error(failed) when the volume fails or has
// vanished. The destructor gives back all that was taken: mounts, loop devices, leases.
class Volume {
 public:
  virtual ~Volume() = default;

  // Makes the volume empty, mounted and ready: formats it with `kind`; a directory is only cleared
  // of what was made since it was opened, and takes no kind.
  virtual void prepare(std::optional<FileSystemKind> kind) = 0;

  // Writes everything back and empties the caches. `paths` (below the root) are the files that are
  // read next, `bytes` their size together: what is still cached is a share of these.
  virtual Coldness make_cold(std::span<const std::string> paths, std::uint64_t bytes) = 0;

  // Returns when everything written is on the device.
  virtual void sync() = 0;

  // Nobody works on it until the next prepare: what is mounted goes, so that no file system writes
  // while another part of the same drive is measured.
  virtual void rest() {}

  // The root directory's descriptor; changes with prepare and make_cold.
  virtual int root() const = 0;

  // Before the first prepare: what the file system is going to lie on, open for reading and
  // writing; nothing on it is needed. -1 where there is no such thing, as for directories.
  virtual int raw() const { return -1; }

  // Throws if the volume is no longer the one that was prepared: unmounted or replaced.
  virtual void check_present() const = 0;

  // Bytes that can be stored at the most, already before prepare.
  virtual std::uint64_t capacity() const = 0;

  virtual FileSystemLimits limits() const = 0;
  virtual std::optional<std::uint64_t> free_bytes() const = 0;  // nothing: the driver does not say
  // How many files and directories can still be made; nothing: as many as fit, or it does not say.
  virtual std::optional<std::uint64_t> free_entries() const { return std::nullopt; }
  // Before prepare, what it says of a file system that is still to be made means nothing.
  virtual VolumeDescription describe() const = 0;
  virtual std::optional<DeviceCounters> counters() const = 0;
  virtual double driver_cpu_s() const { return 0; }

  // Ends the use. With `keep` the files stay as the last step left them, else what filereel made in
  // a directory and temporary images are removed.
  virtual void finish(bool keep) = 0;
};

struct VolumeOptions {
  Role role = Role::near;
  MountPower power = MountPower::none;
  std::vector<Target> destroy = {};  // block devices and parts that may be formatted
  bool keep = false;                 // leave the files also when the run fails or is interrupted
  std::string part = {};             // see VolumeDescription
  HeldDevices* held = nullptr;       // those of the run, while volumes are opened; null: none yet
};

// Checks all that can be checked without changing anything, then takes possession of the target.
// Throws Error.
std::unique_ptr<Volume> open_volume(const Target& target, const VolumeOptions& options);

// The volume kinds' own makers, for open_volume.
std::unique_ptr<Volume> open_directory_volume(const Target& target, const VolumeOptions& options);
std::unique_ptr<Volume> open_device_volume(const Target& target, const VolumeOptions& options);

}  // namespace filereel
