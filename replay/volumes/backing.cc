#include "replay/volumes/backing.h"

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filesets/error.h"
#include "filesets/process.h"
#include "filesets/units.h"

namespace filereel {
namespace {

// A file without a byte of data in it. st_blocks does not tell: some file systems keep small files
// elsewhere, or count late.
bool is_blank(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return file &&
         (device_size(file.get()) == 0 || (lseek(file.get(), 0, SEEK_DATA) < 0 && errno == ENXIO));
}

// An image may be overwritten if it is empty, or if filereel formatted it.
void check_image_is_ours(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return;  // not there yet
  if (!S_ISREG(info.st_mode)) {
    throw_failed(fmt::format("{} is not a regular file: name another, or the file itself", path));
  }
  const DeviceContents contents = probe_contents(path);
  if (contents.label == kVolumeLabel || is_blank(path)) return;
  throw_failed(
      fmt::format("{} exists and filereel did not make it{}: name another file or remove it", path,
                  contents.type.empty() ? "" : fmt::format(" (it holds {})", contents.type)));
}

// By which a later run knows the file that a killed one was working on.
std::string identity_of(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 ? fmt::format("{}:{}", info.st_dev, info.st_ino) : "";
}

}  // namespace

Backing::Backing(const Target& target, const VolumeOptions& options) : target_(target) {
  is_device() ? open_block_device(options) : open_image(options);
}

void Backing::open_image(const VolumeOptions& options) {
  const std::string& path = target_.path;
  lease_.emplace(path + ".filereel", path);
  const std::string there = identity_of(path);
  if (there.empty() || there != lease_->noted()) check_image_is_ours(path);
  // A killed run's loop device goes as soon as the kernel has taken its mounts down.
  constexpr double kPatience_s = 10;
  if (!there.empty()) {
    const std::string user = loop_device_in_use(path, lease_->found() ? kPatience_s : 0);
    if (!user.empty()) {
      throw_failed(
          fmt::format("{} is attached to {}: detach it first (losetup -d {})", path, user, user));
    }
  }
  file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_) throw_failed(fmt::format("cannot make the image {}: {}", path, strerror(errno)));
  lease_->note(identity_of(path));
  try {
    allocate_image();
    if (options.power == MountPower::full) loop_.emplace(path);
  } catch (...) {
    if (there.empty()) unlink(path.c_str());
    throw;
  }
}

// Allocated in full, so that the run cannot meet a full host disk half-way.
void Backing::allocate_image() {
  size_ = target_.size;
  // Away with the old content first: it may be all that fills the disk.
  struct statvfs host{};
  if (ftruncate(file_.get(), 0) != 0 || fstatvfs(file_.get(), &host) != 0) {
    throw_failed(fmt::format("cannot write {}: {}", target_.path, strerror(errno)));
  }
  const std::uint64_t room = host.f_bavail * host.f_frsize;
  if (room < size_) {
    throw_failed(fmt::format(
        "{} takes {} and only {} are free there: use --scale, --set or size=, or put it "
        "elsewhere",
        target_.path, format_size(size_), format_size(room)));
  }
  const auto size = static_cast<off_t>(size_);
  if (fallocate(file_.get(), 0, 0, size) == 0) return;
  if (errno != EOPNOTSUPP || ftruncate(file_.get(), size) != 0) {
    throw_failed(fmt::format("cannot make {} {} large: {}", target_.path, format_size(size_),
                             strerror(errno)));
  }
}

void Backing::open_block_device(const VolumeOptions& options) {
  check_may_format(target_.path, options.destroy);
  if (options.power != MountPower::full) {
    throw_failed(fmt::format("formatting {} needs root: run filereel with sudo", target_.path));
  }
  file_.reset(open(target_.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file_) throw_failed(fmt::format("cannot open {}: {}", target_.path, strerror(errno)));
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw_failed(fmt::format("{} is in use by another program: wait for it", target_.path));
  }
  size_ = device_size(file_.get());
}

void Backing::format(FileSystemKind kind) {
  const FileSystemInfo& info = file_system_info(kind);
  if (is_device()) discard();
  formatted_ = false;
  run_program(make_command(kind, source(), size_, is_device()), info.make_package,
              fmt::format("cannot make {} on {}", info.name, target_.text()));
  formatted_ = true;
  flush();
  drop_caches();
}

// Tells a block device that nothing on it is needed, so that every file system starts on it as
// fresh as it can be. Not all mkfs programs do.
void Backing::discard() {
  std::uint64_t range[2] = {0, size_};
  ioctl(file_.get(), BLKDISCARD, range);  // fails where the drive cannot, and nothing is lost
}

void Backing::flush() {
  if (fsync(descriptor()) != 0 || (loop_ && fsync(file_.get()) != 0)) {
    throw_failed(fmt::format("cannot write everything to {}: {}", target_.path, strerror(errno)));
  }
}

void Backing::drop_caches() {
  if (loop_) drop_from_cache(loop_->descriptor());
  drop_from_cache(file_.get());
}

Residency Backing::resident() const {
  Residency sum = residency(file_.get());
  if (loop_) sum.cached += residency(loop_->descriptor()).cached;
  return sum;
}

std::optional<dev_t> Backing::device() const {
  struct stat info{};
  if (fstat(descriptor(), &info) != 0) return std::nullopt;
  return S_ISBLK(info.st_mode) ? std::optional(info.st_rdev) : std::nullopt;
}

void Backing::check_present() const {
  struct stat there{}, ours{};
  if (stat(target_.path.c_str(), &there) != 0 || fstat(file_.get(), &ours) != 0 ||
      there.st_ino != ours.st_ino || there.st_rdev != ours.st_rdev) {
    throw_failed(fmt::format("{} has vanished during the run: connect it again and start over",
                             target_.path));
  }
}

void Backing::finish(bool keep) {
  const bool spoiled = file_ && !is_device() && !formatted_;
  if (spoiled) fsync(descriptor());  // nothing comes after what follows
  loop_.reset();
  // A later run would take what lies in it for somebody else's: it has no label of filereel's.
  if (spoiled && ftruncate(file_.get(), 0) != 0) lease_->keep();  // then that tells it
  file_.reset();
  if (target_.temporary && !keep) unlink(target_.path.c_str());
  lease_.reset();
}

}  // namespace filereel
