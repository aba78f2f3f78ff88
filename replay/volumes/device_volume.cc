// A volume that filereel formats and mounts, on an image file or a block device.
#include <algorithm>

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/programs.h"
#include "replay/volumes/backing_store.h"
#include "replay/volumes/directory_volume.h"
#include "replay/volumes/volume.h"

namespace filereel {
namespace {

class DeviceVolume final : public Volume {
 public:
  DeviceVolume(const Target& target, const VolumeOptions& options)
      : target_(target), options_(options), backing_(target, options) {}

  ~DeviceVolume() override {
    mount_.reset();
    try {
      backing_.finish(options_.keep);
    } catch (const Error&) {
      // An unnamed image is gone then.
    }
  }

  void take() override { backing_.take(options_); }

  bool purge() override {
    rest();
    backing_.check_unused_by_others();
    return backing_.discard();
  }

  void prepare(const std::optional<Format>& format) override {
    format_ = format.value_or(Format());
    const FileSystemInfo& info = file_system_info(format_.kind);
    const std::optional<Driver> driver = choose_driver(format_.kind, options_.power);
    if (!driver) {
      throw Error(ErrorKind::failed,
                  fmt::format("cannot mount {}: {}; see `filereel doctor`", info.name,
                              info.fuse_program.empty()
                                  ? std::string("the kernel has no driver")
                                  : "no driver found; " + install_advice(info.fuse_program)));
    }
    driver_ = *driver;
    check_volume_size(format_.kind, backing_.size(), target_.text());
    if (mount_) unmount();
    // Another process may use it by now.
    backing_.check_unused_by_others();
    backing_.format(format_);
    mount();
  }

  bool exchange_place(Volume& other) override {
    auto* const with = dynamic_cast<DeviceVolume*>(&other);
    if (!with || with == this || !backing_.can_exchange_image(with->backing_)) return false;
    rest();
    with->rest();
    backing_.exchange_image(with->backing_);
    return true;
  }

  CacheState make_cold(const FileList& files) override {
    check_present();
    // Unmounting drops everything cached per file; the caches of the device and of an image below
    // it remain. Checking them from below has no side effects.
    unmount();
    backing_.flush();
    backing_.drop_caches();
    CacheState coldness;
    coldness.method = "remount";
    const Residency seen = backing_.resident();
    const std::uint64_t whole = files.bytes() > 0 ? files.bytes() : seen.size;
    if (seen.size > 0) {
      coldness.cached =
          std::min(1.0, static_cast<double>(seen.cached) / static_cast<double>(whole));
    }
    mount();
    return coldness;
  }

  void sync() override {
    if (syncfs(mount_->root()) != 0) {
      throw Error(ErrorKind::failed,
                  fmt::format("cannot flush {}: {}", target_.text(), error_text(errno)));
    }
    // syncfs does not reach a FUSE driver; fsync of a directory does if the driver supports it.
    if (!driver_.kernel) fsync(mount_->root());
    backing_.flush();
  }

  void rest() override {
    if (mount_) unmount();
  }

  int root() const override { return mount_->root(); }

  int raw() const override {
    if (mount_) return -1;
    backing_.check_unused_by_others();
    return backing_.descriptor();
  }

  void check_present() const override {
    backing_.check_present();
    struct statvfs info{};
    if (mount_ && fstatvfs(mount_->root(), &info) != 0) {
      throw Error(ErrorKind::failed, fmt::format("the file system on {} no longer responds: {}",
                                                 target_.text(), error_text(errno)));
    }
  }

  std::uint64_t capacity() const override { return backing_.size(); }

  HostSpace host() const override { return backing_.host(); }

  FileSystemLimits limits() const override {
    FileSystemLimits limits = limits_of_driver(driver_.name);
    limits.cluster = limits_of_formatted(format_.kind, backing_.size()).cluster;
    struct statvfs info{};
    const bool chosen = !format_.mkfs_options.empty() && mount_;  // perhaps other clusters
    if (chosen && fstatvfs(mount_->root(), &info) == 0 && info.f_bsize > 0) {
      limits.cluster =
          std::max<std::uint64_t>(info.f_bsize, ext_cluster_size(backing_.descriptor()));
    }
    return limits;
  }

  std::optional<std::uint64_t> free_bytes() const override {
    struct statvfs info{};
    if (fstatvfs(mount_->root(), &info) != 0) return std::nullopt;
    if (info.f_blocks > 0) return info.f_bavail * info.f_frsize;
    // fusefat does not report it. On a fresh volume everything is free except two tables of four
    // bytes per cluster.
    const std::uint64_t clusters = backing_.size() / fat32_cluster(backing_.size());
    return backing_.size() - std::min(backing_.size(), clusters * 8 + (1 << 20));
  }

  std::optional<VolumeSpace> space() const override {
    return mount_ ? space_of(mount_->root()) : std::nullopt;
  }

  std::optional<std::uint64_t> free_entries() const override {
    struct statvfs info{};
    if (!mount_ || fstatvfs(mount_->root(), &info) != 0 || info.f_files == 0) return std::nullopt;
    return info.f_favail;
  }

  VolumeDescription describe() const override {
    VolumeDescription description;
    description.role = options_.role;
    description.target = target_.text();
    description.target_kind = target_kind_name(target_.kind);
    description.file_system = file_system_info(format_.kind).name;
    description.driver = driver_.kernel ? "kernel" : driver_.name;
    if (const auto mounted = mount_ ? mounted_at(mount_->path()) : std::nullopt) {
      description.mount_options = mounted->options;
    }
    description.age = "fresh";
    description.size = backing_.size();
    const std::optional<dev_t> device = backing_.device();
    DeviceStack stack =
        device ? identify_devices(*device) : identify_image(absolute_path(target_.path));
    description.drives = std::move(stack.drives);
    description.layers = std::move(stack.layers);
    description.states = std::move(stack.states);
    if (target_.is_part()) description.start = target_.start;
    description.part = options_.part;
    return description;
  }

  FileSystemFeatures features() const override {
    return read_file_system_features(file_system_info(format_.kind).name, backing_.source(),
                                     backing_.descriptor());
  }

  std::optional<DeviceCounters> counters() const override {
    const std::optional<dev_t> device = backing_.device();
    return device ? read_device_counters(*device) : std::nullopt;
  }

  std::optional<pid_t> driver() const override { return mount_ ? mount_->driver() : std::nullopt; }

  void finish(bool keep) override {
    if (mount_) unmount();
    backing_.finish(keep);
  }

 private:
  void mount() {
    mount_ = std::make_unique<Mount>(format_, driver_, backing_.source(), role_name(options_.role));
  }
  void unmount() {
    mount_->unmount();
    mount_.reset();
  }

  Target target_;
  VolumeOptions options_;
  BackingStore backing_;
  Format format_;
  Driver driver_;
  std::unique_ptr<Mount> mount_;
};

}  // namespace

std::optional<VolumeSpace> space_of(int descriptor) {
  struct statvfs info{};
  if (fstatvfs(descriptor, &info) != 0 || info.f_blocks == 0 || info.f_blocks < info.f_bfree) {
    return std::nullopt;
  }
  return VolumeSpace{(info.f_blocks - info.f_bfree) * info.f_frsize, info.f_bavail * info.f_frsize};
}

std::unique_ptr<Volume> open_device_volume(const Target& target, const VolumeOptions& options) {
  return std::make_unique<DeviceVolume>(target, options);
}

std::unique_ptr<Volume> open_volume(const Target& target, const VolumeOptions& options) {
  return target.kind == TargetKind::directory ? open_directory_volume(target, options)
                                              : open_device_volume(target, options);
}

}  // namespace filereel
