// What a file system that filereel makes lies on: an image file or a block device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/descriptor.h"
#include "replay/volumes/lease.h"
#include "replay/volumes/loop_device.h"
#include "replay/volumes/residency.h"
#include "replay/volumes/target.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Owns the image's lease and loop device, or the lock on the block device.
class Backing {
 public:
  // Checks that the target may be used, and for an image makes the file. Throws Error: what is
  // there is not filereel's, is in use, or there is no room.
  Backing(const Target& target, const VolumeOptions& options);

  // What is formatted and mounted: a block device, or the image itself where there is no loop
  // device.
  const std::string& source() const { return loop_ ? loop_->path() : target_.path; }
  int descriptor() const { return loop_ ? loop_->descriptor() : file_.get(); }  // the same
  std::uint64_t size() const { return size_; }
  bool is_device() const { return target_.kind == TargetKind::block_device; }

  // Makes a file system on it, which is on the device when this returns. Throws Error(failed).
  void format(FileSystemKind kind);

  void flush();                // returns when all written to it is on the device
  void drop_caches();          // of the kernel, after flush()
  Residency resident() const;  // bytes of it in the page cache, of any layer

  // For sysfs: the loop or block device; nothing for an image without a loop device.
  std::optional<dev_t> device() const;

  // Throws Error(failed) if the image file was removed or replaced.
  void check_present() const;

  // Gives everything back; temporary images are removed unless `keep`. One that was written to and
  // holds no file system is emptied.
  void finish(bool keep);

 private:
  void open_image(const VolumeOptions& options);
  void open_block_device(const VolumeOptions& options);
  void allocate_image();
  void discard();

  Target target_;
  std::optional<Lease> lease_;
  Descriptor file_;  // the image or the block device
  std::optional<LoopDevice> loop_;
  std::uint64_t size_ = 0;
  bool formatted_ = false;
};

}  // namespace filereel
