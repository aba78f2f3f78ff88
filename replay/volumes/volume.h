// How this folder works: a Target (target.h) is a volume as the user named it, and open_volume()
// makes a Volume of it: a directory (directory_volume.cc), or a file system that filereel formats
// on a BackingStore (device_volume.cc, backing_store.h). file_system.h has the tables of file
// systems and drivers. What a result says of a volume comes from the other headers: its drives
// (device_identity.h), layers, features and shares. Start with Volume below, then
// directory_volume.cc.
//
// A volume to replay on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "replay/results/volume_description.h"
#include "replay/volumes/block_device.h"
#include "replay/volumes/device_identity.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/file_system_features.h"
#include "replay/volumes/format.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/network_share.h"
#include "replay/volumes/page_cache.h"
#include "replay/volumes/target.h"
#include "traces/path_table.h"

namespace filereel {

// Cache state at the start of a step.
struct CacheState {
  std::string method;            // "remount", "drop_caches", "fadvise", or intentionally "warm"
  std::optional<double> cached;  // cached share of the cacheable bytes, 0 to 1
};

// The file system below a directory or an image. Several volumes of a run may share it.
struct HostSpace {
  dev_t file_system = 0;                   // 0: none, as below a block device
  std::optional<std::uint64_t> free = {};  // bytes; nothing: unknown
  std::uint64_t freed = 0;                 // by take(): files of an earlier run
  std::uint64_t taken = 0;                 // by take(): the image
  bool has_quota = false;                  // a project quota limits it
};

// A directory in the root with files that fill a volume; no job has an entry of this name.
inline constexpr std::string_view kFillDirectory = ".filereel-fill";

// Bytes of a file system, as counted by df: what is kept for root is neither.
struct VolumeSpace {
  std::uint64_t used = 0, available = 0;

  // From 0 to 1.
  double used_share() const {
    const std::uint64_t all = used + available;
    return all > 0 ? static_cast<double>(used) / static_cast<double>(all) : 0;
  }
};
// Of the file system of an open file or directory; nothing if it does not report that.
std::optional<VolumeSpace> space_of(int descriptor);

// Two implementations: a directory, and a file system that filereel formats and mounts on an image
// or a block device.
//
// Opening a volume changes nothing: it checks, and holds a block device. take() then begins the
// use, so that a run refuses the faults of all its volumes before it touches one of them. All
// members except the destructor throw Error(failed) if the volume fails or disappears. The
// destructor releases everything: mounts, loop devices, leases.
class Volume {
 public:
  virtual ~Volume() = default;

  // Begins the use: removes what an earlier run has kept there, creates a missing directory or the
  // image. Call once, before everything except capacity(), free_entries(), host(), limits() and
  // describe().
  virtual void take() = 0;

  // Discards the whole drive or part. Returns false if that is not possible, as for directories and
  // images. Call before prepare().
  virtual bool purge() { return false; }

  // Formats the volume and mounts it empty. A directory takes no format; only files created since
  // it was opened are removed.
  virtual void prepare(const std::optional<Format>& format) = 0;

  // Exchanges the storage with another volume, and unmounts both: until the next prepare they have
  // no content. Returns false and does nothing unless both are images of one size in one directory.
  virtual bool exchange_place(Volume& /*other*/) { return false; }

  // Works in the directory of this client from now on, or in the common one of all (nothing), which
  // only the first client creates. No effect without ClientPlace.
  virtual void enter(std::optional<std::uint32_t> /*client*/) {}

  // Writes everything back and empties the caches. `files` are read next: the cached share refers
  // to these.
  virtual CacheState make_cold(const FileList& files) = 0;

  // Returns once all written data is on the device.
  virtual void sync() = 0;

  // Unmounts until the next prepare, so that no file system writes while another part of the same
  // drive is measured.
  virtual void rest() {}

  // Descriptor of the root directory; changes with prepare and make_cold.
  virtual int root() const = 0;

  // Before the first prepare, and after rest(): the storage below the future file system, open for
  // reading and writing; its content is not needed. -1 if there is none, as for directories.
  virtual int raw() const { return -1; }

  // Throws if the prepared volume was unmounted or replaced.
  virtual void check_present() const = 0;

  // Maximum capacity in bytes, available before take() and prepare().
  virtual std::uint64_t capacity() const = 0;
  // Before take().
  virtual HostSpace host() const { return {}; }

  virtual FileSystemLimits limits() const = 0;
  virtual std::optional<std::uint64_t> free_bytes() const = 0;  // none: unknown
  // Used and available, as counted by df; nothing: unknown.
  virtual std::optional<VolumeSpace> space() const { return std::nullopt; }
  // Number of files and directories that can still be created; nothing: unlimited or unknown.
  virtual std::optional<std::uint64_t> free_entries() const { return std::nullopt; }
  // Before prepare, the data about a file system not formatted yet is meaningless.
  virtual VolumeDescription describe() const = 0;
  // Of the prepared file system. Runs programs, so call it seldom, and not while the clock runs.
  virtual FileSystemFeatures features() const { return {}; }
  virtual std::optional<DeviceCounters> counters() const = 0;
  // The FUSE driver, which several volumes may share; nothing: the kernel, or unknown.
  virtual std::optional<pid_t> driver() const { return std::nullopt; }

  // Ends the use. With `keep` the files stay as the last step left them. Otherwise filereel's files
  // in a directory and temporary images are removed.
  virtual void finish(bool keep) = 0;
};

// The place of a client among those that work in the same directory. Each has a directory of its
// own, and all have a common one; they are in the working directory of the first. prepare() empties
// its own, and that of the first also the common one.
struct ClientPlace {
  std::uint32_t client = 0;  // from 0
  // Returns the text of the first client to all of them.
  std::function<std::string(const std::string&)> text_of_first;
};

struct VolumeOptions {
  Role role = Role::near;
  MountCapability power = MountCapability::none;
  std::vector<Target> destroy = {};        // block devices and parts that may be formatted
  bool keep = false;                       // also if the run fails or is interrupted
  bool sparse = false;                     // an image takes no space before it is used
  std::string part = {};                   // see VolumeDescription
  HeldDevices* held = nullptr;             // of the run, while volumes are opened; null: none yet
  std::optional<ClientPlace> client = {};  // directories only
};

// Performs all checks of the target, and changes nothing. An image must have a size. Throws Error.
std::unique_ptr<Volume> open_volume(const Target& target, const VolumeOptions& options);

// What files on the file system of a directory, or of a missing one, must obey.
FileSystemLimits limits_of_directory(const std::string& path);

// Factories for open_volume.
std::unique_ptr<Volume> open_directory_volume(const Target& target, const VolumeOptions& options);
std::unique_ptr<Volume> open_device_volume(const Target& target, const VolumeOptions& options);

}  // namespace filereel
