// The storage under a file system that filereel formats: an image file, a block device or part of
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"
#include "replay/volumes/block_device.h"
#include "replay/volumes/format.h"
#include "replay/volumes/mount.h"
#include "replay/volumes/page_cache.h"
#include "replay/volumes/target.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Opens its target once and uses that descriptor, even if its name refers to something else later.
// An image is unnamed while filereel works with it. finish() creates it atomically under its name
// and gives it a lease, so that a later run may replace it unless someone has changed it.
class BackingStore {
 public:
  // Checks that the target may be used, and changes nothing. Throws Error if existing content is
  // not filereel's, the target is in use, or an image cannot have its size there.
  BackingStore(const Target& target, const VolumeOptions& options);

  // Creates the image file, if any, and removes an earlier one of filereel's. Throws Error.
  void take(const VolumeOptions& options);
  HostSpace host() const;  // of an image, before take()

  // The path to format and mount: a block device, or the image itself if there is no loop device.
  std::string source() const;
  int descriptor() const { return loop_ ? loop_->descriptor() : file(); }  // of source()
  std::uint64_t size() const { return size_; }
  bool is_device() const { return target_.kind == TargetKind::block_device; }

  // Throws Error(failed) if it is a block device that something else uses by now.
  void check_unused_by_others() const;

  // Whether both are images of one size that will be named in the same directory.
  bool can_exchange_image(const BackingStore& other) const;
  // Exchanges their files, which are unnamed so far, and the loop devices of these. Nothing may be
  // mounted. Both must be formatted before they can stay.
  void exchange_image(BackingStore& other);

  // Discards a block device. Returns whether it could be; never for other targets.
  bool discard();

  // Creates a file system and flushes it to the device. Throws Error(failed).
  void format(const Format& format);

  void flush();                // returns once all written data is on the device
  void drop_caches();          // the kernel's caches; call after flush()
  Residency resident() const;  // bytes in the page cache, in all layers

  // The loop or block device, for sysfs; nothing for an image without a loop device.
  std::optional<dev_t> device() const;

  // Throws Error(failed) if the block device's name refers to another device.
  void check_present() const;

  // Releases everything. A formatted image gets its name, unless it is temporary and not to be
  // kept. Throws Error(failed).
  void finish(bool keep);

 private:
  void check_image(bool stays);
  void check_host() const;
  void make_image(const VolumeOptions& options);
  void reserve_name(bool stays);
  std::vector<FoundLease> leases_of_name() const;
  FileIdentity prove_own_image(const FileState& there, std::span<const FoundLease> leases) const;
  void open_block_device(const VolumeOptions& options);
  void open_part(int node, HeldDevices& held);
  void allocate_image(bool sparse);
  void wipe_start();
  // The lowest layer.
  int file() const {
    return image_ ? image_->descriptor() : held_ ? held_->file.get() : device_.get();
  }

  Target target_;
  std::string name_, image_path_;  // final name and absolute path of the image
  Descriptor directory_;           // of the image
  std::uint64_t replaced_ = 0;     // bytes that the earlier image takes
  std::optional<Lease> lease_;     // of image_path_
  std::unique_ptr<NewFile> image_;
  Descriptor device_;                 // a whole device
  std::shared_ptr<HeldDevice> held_;  // the device of a part, mapped by the loop device
  std::unique_ptr<LoopDevice> loop_;
  std::uint64_t size_ = 0;
  bool formatted_ = false;
};

}  // namespace filereel
