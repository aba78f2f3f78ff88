// A directory as a volume: used as it is, on whatever file system it lies.
#include <algorithm>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/error.h"
#include "filesets/formats/fileset_file.h"
#include "replay/volumes/lease.h"
#include "replay/volumes/remove_tree.h"
#include "replay/volumes/residency.h"
#include "replay/volumes/volume.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// Files looked at to see how cold the caches are. Each look brings one name and one inode into the
// caches, so few of many.
constexpr std::size_t kSampledFiles = 32;

// By the number that statfs gives, for where the mount cannot be seen: in a chroot, say.
std::string type_by_magic(int fd) {
  struct Magic {
    unsigned long number;
    std::string_view type;
  };
  // From <linux/magic.h> and, where it does not have them, the drivers' own headers.
  static constexpr Magic kMagics[] = {
      {EXT4_SUPER_MAGIC, "ext4"},  {XFS_SUPER_MAGIC, "xfs"},     {BTRFS_SUPER_MAGIC, "btrfs"},
      {TMPFS_MAGIC, "tmpfs"},      {F2FS_SUPER_MAGIC, "f2fs"},   {OVERLAYFS_SUPER_MAGIC, "overlay"},
      {MSDOS_SUPER_MAGIC, "vfat"}, {0x2011bab0, "exfat"},        {0x7366746e, "ntfs3"},
      {NFS_SUPER_MAGIC, "nfs"},    {FUSE_SUPER_MAGIC, "fuseblk"}};
  struct statfs info{};
  if (fstatfs(fd, &info) == 0) {
    for (const Magic& magic : kMagics) {
      if (static_cast<unsigned long>(info.f_type) == magic.number) return std::string(magic.type);
    }
  }
  return "unknown";
}

class DirectoryVolume final : public Volume {
 public:
  DirectoryVolume(const Target& target, const VolumeOptions& options)
      : target_(target), role_(options.role), keep_(options.keep) {
    made_ = mkdir(target_.path.c_str(), 0777) == 0;
    if (!made_ && errno != EEXIST) fail("cannot make", errno);
    root_.reset(open(target_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root_) fail("cannot open", errno);
    check_empty();
    lease_.emplace(target_.path + "/" + std::string(kVolumeMarker), target_.path);
    lease_->keep(lease_->found());  // should anything fail from here on
    if (const auto mounted = mounted_at(target_.path)) mounted_ = *mounted;
    if (mounted_.type.empty()) mounted_.type = type_by_magic(root_.get());
    device_ = storage_of_file(target_.path).device;
    if (options.makes) makes_ = options.makes(limits());
    clear(names_of(lease_->noted()));
    lease_->note(note_of(makes_));
    lease_->keep(false);
  }

  ~DirectoryVolume() override {
    try {
      finish(keep_);
    } catch (const Error&) {
      // The marker stays, and with it a later run clears the rest.
      if (lease_) lease_->keep();
    }
  }

  void prepare(std::optional<FileSystemKind>) override {
    check_present();
    clear(makes_);
  }

  Coldness make_cold(std::span<const std::string> paths, std::uint64_t) override {
    check_present();
    sync();
    Coldness coldness;
    if (drop_all_caches()) {
      coldness.method = "drop_caches";
    } else {
      coldness.method = "fadvise";
      for (const std::string& path : paths) {
        if (const Descriptor file = open_beneath(path)) drop_from_cache(file.get());
      }
    }
    Residency seen;
    const std::size_t step = std::max<std::size_t>(1, paths.size() / kSampledFiles);
    for (std::size_t i = 0; i < paths.size(); i += step) {
      if (const Descriptor file = open_beneath(paths[i])) {
        const Residency one = residency(file.get());
        seen.cached += one.cached;
        seen.size += one.size;
      }
    }
    // The last page of a file counts whole, so a fully cached set can come out above 1.
    if (seen.size > 0) {
      coldness.cached =
          std::min(1.0, static_cast<double>(seen.cached) / static_cast<double>(seen.size));
    }
    return coldness;
  }

  void sync() override {
    if (syncfs(root_.get()) != 0) fail("cannot write everything to", errno);
  }

  int root() const override { return root_.get(); }

  void check_present() const override {
    struct stat now{}, then{};
    const bool there = stat(target_.path.c_str(), &now) == 0;
    if (fstat(root_.get(), &then) != 0 || !there || now.st_dev != then.st_dev ||
        now.st_ino != then.st_ino) {
      throw Error(ErrorKind::failed,
                  fmt::format("{} has vanished: it was unmounted or replaced during the run; mount "
                              "it again and start over",
                              target_.path));
    }
  }

  std::uint64_t capacity() const override { return free_bytes().value_or(UINT64_MAX); }

  FileSystemLimits limits() const override { return limits_of_mounted(mounted_.type); }

  std::optional<std::uint64_t> free_bytes() const override {
    struct statvfs info{};
    if (fstatvfs(root_.get(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
    return info.f_bavail * info.f_frsize;
  }

  std::optional<std::uint64_t> free_entries() const override {
    struct statvfs info{};
    if (fstatvfs(root_.get(), &info) != 0 || info.f_files == 0) return std::nullopt;
    return info.f_favail;
  }

  VolumeDescription describe() const override {
    VolumeDescription description;
    description.role = role_;
    description.target = target_.text();
    description.target_kind = target_kind_name(target_.kind);
    description.file_system = mounted_.type;
    description.driver = mounted_.type.starts_with("fuse") ? mounted_.type : "kernel";
    description.mount_options = mounted_.options;
    description.age = "used";
    struct statvfs info{};
    if (fstatvfs(root_.get(), &info) == 0) description.size = info.f_blocks * info.f_frsize;
    DeviceStack stack = identify_devices(device_);
    description.drives = std::move(stack.drives);
    description.layers = std::move(stack.layers);
    return description;
  }

  std::optional<DeviceCounters> counters() const override { return read_device_counters(device_); }

  void finish(bool keep) override {
    if (!lease_) return;
    if (keep) {
      lease_->keep();
    } else {
      clear(makes_);
    }
    lease_.reset();
    if ((made_ || target_.temporary) && !keep) rmdir(target_.path.c_str());
  }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const {
    throw Error(ErrorKind::failed, fmt::format("{} {}: {}", what, target_.path, strerror(error)));
  }

  void clear(const std::vector<std::string>& names) {
    for (const std::string& name : names) remove_tree(root_.get(), name);
  }

  // The marker's note of what is made beside it: names with their blanks escaped.
  std::string note_of(const std::vector<std::string>& names) const {
    std::string note;
    for (const std::string& name : names) {
      if (!note.empty()) note += ' ';
      append_escaped(name, Blanks::escaped, note);
      if (note.size() > Lease::kMaxNote) break;
    }
    if (note.size() <= Lease::kMaxNote) return note;
    throw Error(ErrorKind::failed,
                fmt::format("cannot use {}: {} names would be made directly in it, more than its "
                            "marker can remember; name an image or a device",
                            target_.path, names.size()));
  }

  static std::vector<std::string> names_of(std::string_view note) {
    std::vector<std::string> names;
    while (!note.empty()) {
      const std::size_t end = std::min(note.find(' '), note.size());
      std::string name;
      // Whoever wrote the marker: nothing but names in this directory.
      if (unescape(note.substr(0, end), Blanks::escaped, name) && is_name(name)) {
        names.push_back(std::move(name));
      }
      note.remove_prefix(std::min(end + 1, note.size()));
    }
    return names;
  }
  static bool is_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name != kVolumeMarker &&
           name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
  }

  void check_empty() const {
    boost::system::error_code error;
    if (fs::exists(target_.path + "/" + std::string(kVolumeMarker), error)) return;
    fs::directory_iterator entry(target_.path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().filename() == "lost+found") continue;  // every fresh ext4 has it
      throw Error(
          ErrorKind::failed,
          fmt::format("{} is not empty and filereel did not fill it: name an empty directory",
                      target_.path));
    }
    if (error) fail("cannot read", error.value());
  }

  Descriptor open_beneath(const std::string& path) const {
    open_how how{};
    how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return Descriptor(
        static_cast<int>(syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how)));
  }

  Target target_;
  Role role_;
  bool keep_;
  std::vector<std::string> makes_;
  bool made_ = false;
  Descriptor root_;
  std::optional<Lease> lease_;
  MountedFileSystem mounted_;
  dev_t device_ = 0;  // 0: there is none
};

}  // namespace

std::unique_ptr<Volume> open_directory_volume(const Target& target, const VolumeOptions& options) {
  return std::make_unique<DirectoryVolume>(target, options);
}

}  // namespace filereel
