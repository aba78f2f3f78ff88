// What a file system that filereel makes lies on: an image file, a block device or part of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/ownership/new_file.h"
#include "filesets/system/descriptor.h"
#include "replay/volumes/device_part.h"
#include "replay/volumes/loop_device.h"
#include "replay/volumes/residency.h"
#include "replay/volumes/target.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Opens its target once and works with that, whatever takes its name meanwhile. An image has no
// name while filereel works with it: it appears, complete, in finish(), and then has a lease, so
// that a later run may put its own in its place as long as nobody has changed it.
class Backing {
 public:
  // Checks that the target may be used, and for an image makes the file. Throws Error: what is
  // there is not filereel's, is in use, or there is no room.
  Backing(const Target& target, const VolumeOptions& options);

  // The path of what is formatted and mounted: a block device, or the image itself where there is
  // no loop device.
  std::string source() const;
  int descriptor() const { return loop_ ? loop_->descriptor() : file(); }  // the same
  std::uint64_t size() const { return size_; }
  bool is_device() const { return target_.kind == TargetKind::block_device; }

  // Throws Error(failed) if it is a block device and somebody else uses it by now.
  void check_unused_by_others() const;

  // Makes a file system on it, which is on the device when this returns. Throws Error(failed).
  void format(FileSystemKind kind);

  void flush();                // returns when all written to it is on the device
  void drop_caches();          // of the kernel, after flush()
  Residency resident() const;  // bytes of it in the page cache, of any layer

  // For sysfs: the loop or block device; nothing for an image without a loop device.
  std::optional<dev_t> device() const;

  // Throws Error(failed) if another device has taken the name of the block device.
  void check_present() const;

  // Gives everything back. An image that holds a file system gets its name, unless it is a
  // temporary one and not to be kept. Throws Error(failed).
  void finish(bool keep);

 private:
  void open_image(const VolumeOptions& options);
  void reserve_name(const std::string& directory, bool stays);
  void remove_own_image(int parent, const FileState& there,
                        std::span<const FoundLease> leases) const;
  void open_block_device(const VolumeOptions& options);
  void open_part(int node, HeldDevices& held);
  void allocate_image();
  void discard();
  // What lies below all.
  int file() const {
    return image_ ? image_->descriptor() : held_ ? held_->file.get() : device_.get();
  }

  Target target_;
  std::string name_, image_path_;  // of the image when it is done: in its directory, and absolute
  std::optional<Lease> lease_;     // of that
  std::optional<NewFile> image_;
  Descriptor device_;                 // a whole one
  std::shared_ptr<HeldDevice> held_;  // of a part, which the loop device shows
  std::optional<LoopDevice> loop_;
  std::uint64_t size_ = 0;
  bool formatted_ = false;
};

}  // namespace filereel
