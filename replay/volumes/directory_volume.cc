// A directory as a volume, on its existing file system.
#include "replay/volumes/directory_volume.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "replay/volumes/block_device.h"
#include "replay/volumes/page_cache.h"
#include "replay/volumes/processes.h"
#include "replay/volumes/volume.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr const char* kCommon = "shared";  // the directory of all clients

std::string name_of(std::uint32_t client) {
  return fmt::format("client-{}", client);
}

// Does not follow a symbolic link, unless the user named it.
Descriptor open_directory(int parent, const std::string& path) {
  const int follow = parent == AT_FDCWD ? 0 : O_NOFOLLOW;
  return Descriptor(openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
}

// `path` need not exist.
std::string directory_above(const std::string& path) {
  return fs::path(full_path(path)).parent_path().string();
}

}  // namespace

OwnDirectory::OwnDirectory(const std::string& path, const std::optional<ClientPlace>& place)
    : path_(path), client_place_(place), client_(place ? place->client : 0) {
  if (client_ == 0) {
    work_.emplace(path, WorkDirectory::Use::volume);
  } else {
    above_ = open_directory(AT_FDCWD, existing_path(path));
  }
}

void OwnDirectory::take() {
  if (work_) work_->take();
  if (!client_place_) return;
  all_name_ = client_place_->text_of_first(work_ ? work_->name() : "");
  find_all();
  make(name_of(client_));
  enter(client_);
}

// Opens the directory of the first client. Network file systems remember for a while that a target
// did not exist: NFS until the directory above it is opened, SMB for a second.
void OwnDirectory::find_all() {
  using namespace std::chrono_literals;
  constexpr auto kPatience = 3s;
  constexpr auto kPause = 100ms;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    open_directory(AT_FDCWD, directory_above(path_));
    if (const Descriptor target = open_directory(AT_FDCWD, path_)) {
      all_ = open_directory(target.get(), all_name_);
    }
    if (all_) return;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(kPause);
  }
  throw_failed(
      fmt::format("{} does not contain the directory of the first client, {}: all clients need the "
                  "same file system there",
                  printable(path_), all_name_));
}

void OwnDirectory::enter(std::optional<std::uint32_t> client) {
  if (!all_) return;
  if (!client && work_) make(kCommon);
  entered_ = open_directory(all_.get(), client ? name_of(*client) : kCommon);
  if (!entered_) fail("cannot open a client's directory in", errno);
}

void OwnDirectory::check_present() const {
  if (work_) return work_->check_present();
  require_present(all_.get(), absolute_path(path_) + "/" + all_name_, path_);
}

void OwnDirectory::clear() {
  if (!all_) return remove_contents(root(), path_);
  clear(name_of(client_));
  if (work_) clear(kCommon);
}

void OwnDirectory::keep() {
  if (work_) work_->keep();
}

void OwnDirectory::remove() {
  if (work_) work_->remove();
}

void OwnDirectory::make(const std::string& name) const {
  if (mkdirat(all_.get(), name.c_str(), 0700) == 0 || errno == EEXIST) return;
  fail("cannot create a client's directory in", errno);
}

void OwnDirectory::clear(const std::string& name) const {
  if (const Descriptor descriptor = open_directory(all_.get(), name))
    remove_contents(descriptor.get(), path_);
}

void OwnDirectory::fail(const char* what, int error) const {
  throw_failed(fmt::format("{} {}: {}", what, printable(path_), error_text(error)));
}

namespace {

constexpr std::size_t kSuperblock = 1024;  // its place on the device, and its size
using Superblock = std::array<unsigned char, kSuperblock>;

std::uint32_t number_at(const Superblock& block, std::size_t offset) {
  std::uint32_t number = 0;
  for (std::size_t i = sizeof(number); i-- > 0;) number = number << 8 | block.at(offset + i);
  return number;
}

}  // namespace

std::uint64_t ext_cluster_size(int device) {
  constexpr std::size_t kLogBlock = 0x18, kLogCluster = 0x1c, kMagic = 0x38, kReadOnlyFlags = 0x64;
  constexpr std::uint32_t kExt = 0xef53, kBigalloc = 0x200, kLargestShift = 20;
  Superblock block{};
  if (pread(device, block.data(), block.size(), kSuperblock) != static_cast<ssize_t>(kSuperblock)) {
    return 0;
  }
  if ((number_at(block, kMagic) & 0xffff) != kExt) return 0;
  const bool bigalloc = (number_at(block, kReadOnlyFlags) & kBigalloc) != 0;
  const std::uint32_t shift = number_at(block, bigalloc ? kLogCluster : kLogBlock);
  return shift > kLargestShift ? 0 : std::uint64_t{1024} << shift;
}

namespace {

// Number of files sampled to check that the caches are cold. Each check loads names and an inode
// into the caches. Without permission to drop these they stay there, so only a few are sampled.
constexpr std::size_t kSampledFiles = 32;

// ext4 keeps metadata in memory as long as it is in its journal. This has it written to its place
// (root, Linux 5.14; otherwise it fails).
void empty_journal(int root, std::string_view type) {
  if (type != "ext4" && type != "ext3") return;
  // EXT4_IOC_CHECKPOINT, missing in the headers of Debian 12.
  constexpr unsigned long kCheckpoint = _IOW('f', 43, std::uint32_t);
  std::uint32_t flags = 0;
  ioctl(root, kCheckpoint, &flags);
}

// The type by statfs magic number, if the mount is not visible, for example in a chroot.
std::string type_by_magic(int fd) {
  struct Magic {
    unsigned long number;
    std::string_view type;
  };
  // From <linux/magic.h> or the headers of the drivers.
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

FileSystemLimits limits_at(int directory, const MountedFileSystem& mounted) {
  struct statvfs info{};
  const bool known = fstatvfs(directory, &info) == 0 && info.f_bsize > 0;
  return known ? limits_of_mount(mounted, info.f_bsize) : limits_of_mount(mounted);
}

class DirectoryVolume final : public Volume {
 public:
  DirectoryVolume(const Target& target, const VolumeOptions& options)
      : target_(target),
        role_(options.role),
        keep_(options.keep),
        directory_(target.path, options.client) {
    const std::string there = existing_path(target_.path);
    if (const auto mounted = mounted_at(there)) mounted_ = *mounted;
    if (mounted_.type.empty()) mounted_.type = type_by_magic(directory_.place());
    limits_ = limits_at(directory_.place(), mounted_);
    device_ = storage_of_file(there).device;
    if (mounted_.type.starts_with("ext")) {
      if (const Descriptor device = open_device()) {
        limits_.cluster = std::max(limits_.cluster, ext_cluster_size(device.get()));
      }
    }
    network_ = network_share(mounted_);
    if (network_) find_link(*network_);
    fuse_driver_ = fuse_driver_of(mounted_);
  }

  ~DirectoryVolume() override {
    if (!taken_) return;
    try {
      const auto names = names_in(root());
      if (keep_ && names && !names->empty()) directory_.keep();
    } catch (const Error&) {
      // The leases remain, and a later run removes the files.
    }
  }

  void take() override {
    directory_.take();
    taken_ = true;
  }

  void prepare(const std::optional<Format>&) override {
    check_present();
    directory_.clear();
  }

  void enter(std::optional<std::uint32_t> client) override { directory_.enter(client); }

  CacheState make_cold(const FileList& files) override {
    check_present();
    sync();
    empty_journal(root(), mounted_.type);
    CacheState coldness;
    if (drop_all_caches()) {
      coldness.method = "drop_caches";
    } else {
      coldness.method = "fadvise";
      for (std::size_t i = 0; i < files.size(); ++i) {
        if (const Descriptor file = open_beneath(files.path(i))) drop_from_cache(file.get());
      }
    }
    Residency seen;
    const std::size_t step = std::max<std::size_t>(1, files.size() / kSampledFiles);
    for (std::size_t i = 0; i < files.size(); i += step) {
      if (const Descriptor file = open_beneath(files.path(i))) {
        const Residency one = residency(file.get());
        seen.cached += one.cached;
        seen.size += one.size;
      }
    }
    if (coldness.method == "drop_caches") drop_all_caches();  // what the check has loaded
    // The last page of a file counts as a whole, so a fully cached set can exceed 1.
    if (seen.size > 0) {
      coldness.cached =
          std::min(1.0, static_cast<double>(seen.cached) / static_cast<double>(seen.size));
    }
    return coldness;
  }

  void sync() override {
    if (syncfs(root()) == 0) return;
    const std::string why = write_error_text(errno, root());
    throw_failed(fmt::format("cannot flush {}: {}", target_.path, why));
  }

  int root() const override { return directory_.root(); }

  void check_present() const override { directory_.check_present(); }

  std::uint64_t capacity() const override {
    const std::optional<std::uint64_t> free = free_bytes();
    return free ? *free + removable().bytes : UINT64_MAX;
  }

  HostSpace host() const override {
    struct stat info{};
    if (taken_ || fstat(directory_.place(), &info) != 0) return {};
    return {.file_system = info.st_dev,
            .free = free_bytes(),
            .freed = removable().bytes,
            .has_quota = has_project_quota(directory_.place())};
  }

  FileSystemLimits limits() const override { return limits_; }

  std::optional<std::uint64_t> free_bytes() const override {
    struct statvfs info{};
    if (fstatvfs(directory_.place(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
    return info.f_bavail * info.f_frsize;
  }

  std::optional<VolumeSpace> space() const override { return space_of(directory_.place()); }

  std::optional<std::uint64_t> free_entries() const override {
    struct statvfs info{};
    if (fstatvfs(directory_.place(), &info) != 0 || info.f_files == 0) return std::nullopt;
    return info.f_favail + removable().entries;
  }

  VolumeDescription describe() const override {
    VolumeDescription description;
    description.role = role_;
    description.target = target_.text();
    description.target_kind = target_kind_name(target_.kind);
    description.file_system = mounted_.type;
    description.driver = mounted_.type.starts_with("fuse") ? mounted_.type : "kernel";
    description.mount_options = options_without_account(mounted_.options);
    description.age = "used";
    struct statvfs info{};
    if (fstatvfs(directory_.place(), &info) == 0) description.size = size_of_volume(info, device_);
    DeviceStack stack = identify_devices(device_);
    description.drives = std::move(stack.drives);
    description.layers = std::move(stack.layers);
    description.states = std::move(stack.states);
    description.network = network_;
    if (network_) description.layers = share_layers(*network_);
    return description;
  }

  FileSystemFeatures features() const override {
    const std::string& source = mounted_.source;
    if (!source.starts_with('/') || !has_features(mounted_.type)) return {};
    const Descriptor device = open_device();
    const int error = device ? 0 : errno;
    if (!device && error == 0) return {{}, source + " is not the device of the file system here"};
    return read_file_system_features(mounted_.type, source, device.get(), error);
  }

  std::optional<pid_t> driver() const override { return fuse_driver_; }

  std::optional<DeviceCounters> counters() const override { return read_device_counters(device_); }

  void finish(bool keep) override { keep ? directory_.keep() : directory_.remove(); }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const {
    throw Error(ErrorKind::failed, fmt::format("{} {}: {}", what, target_.path, error_text(error)));
  }

  // The device of the file system, for reading. Not open if that is denied, or with errno 0 if its
  // name is that of something else, as in a container.
  Descriptor open_device() const {
    const std::string& source = mounted_.source;
    if (!source.starts_with('/')) return {};
    Descriptor device(open(source.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat info{};
    const bool other = device && (fstat(device.get(), &info) != 0 || !S_ISBLK(info.st_mode) ||
                                  (device_ != 0 && info.st_rdev != device_));
    if (!other) return device;
    device.reset();
    errno = 0;
    return device;
  }

  Descriptor open_beneath(const std::string& path) const {
    open_how how{};
    how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return Descriptor(
        static_cast<int>(syscall(SYS_openat2, root(), path.c_str(), &how, sizeof how)));
  }

  TreeSpace removable() const { return taken_ ? TreeSpace() : directory_.removable(); }

  Target target_;
  Role role_;
  bool keep_, taken_ = false;
  OwnDirectory directory_;
  MountedFileSystem mounted_;
  FileSystemLimits limits_;
  dev_t device_ = 0;  // 0: none
  std::optional<NetworkShare> network_;
  std::optional<pid_t> fuse_driver_;
};

}  // namespace

FileSystemLimits limits_of_directory(const std::string& path) {
  const std::string there = existing_path(path);
  const Descriptor directory(open(there.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  MountedFileSystem mounted = mounted_at(there).value_or(MountedFileSystem());
  if (mounted.type.empty()) mounted.type = type_by_magic(directory.get());
  return limits_at(directory.get(), mounted);
}

std::unique_ptr<Volume> open_directory_volume(const Target& target, const VolumeOptions& options) {
  return std::make_unique<DirectoryVolume>(target, options);
}

}  // namespace filereel
