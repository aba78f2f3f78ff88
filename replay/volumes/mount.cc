#include "replay/volumes/mount.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/privileges.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr const char* kControl = "/dev/loop-control";

// Compares inodes, because the name in sysfs differs in a chroot or container.
bool is_attached_to(const std::string& path, const struct stat& file) {
  const Descriptor device(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  loop_info64 info{};
  return device && ioctl(device.get(), LOOP_GET_STATUS64, &info) == 0 &&
         info.lo_inode == file.st_ino && info.lo_device == file.st_dev;
}

}  // namespace

LoopDevice::LoopDevice(int image, const std::string& name, const LoopRange& range) {
  const auto fail = [&](std::string_view step) {
    const int error = errno;
    throw Error(ErrorKind::failed, fmt::format("cannot set up a loop device for {}: {}: {}", name,
                                               step, error_text(error)));
  };
  const Descriptor control(open(kControl, O_RDWR | O_CLOEXEC));
  if (!control) fail(kControl);

  // Another process may take the free device first: then try the next one.
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) fail("no free loop device");
    std::string path = fmt::format("/dev/loop{}", number);
    Descriptor device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device) fail(path);

    for (const bool direct : {true, false}) {
      loop_config config{};
      config.fd = static_cast<unsigned>(image);
      config.block_size = range.block_size;
      config.info.lo_offset = range.start;
      config.info.lo_sizelimit = range.size;
      config.info.lo_flags = direct ? LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO : LO_FLAGS_AUTOCLEAR;
      if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) {
        path_ = std::move(path);
        device_ = std::move(device);
        copy_read_ahead(image);
        return;
      }
      if (errno == EBUSY) break;
    }
    if (errno != EBUSY) fail(path);
  }
  fail("other processes took every free device");
}

LoopDevice::~LoopDevice() {
  if (own_read_ahead_) ioctl(device_.get(), BLKRASET, *own_read_ahead_);
}

void LoopDevice::copy_read_ahead(int device) {
  long of_device = 0, own = 0;                           // in units of 512 bytes
  if (ioctl(device, BLKRAGET, &of_device) != 0) return;  // a file
  if (ioctl(device_.get(), BLKRAGET, &own) != 0) return;
  if (ioctl(device_.get(), BLKRASET, of_device) == 0) own_read_ahead_ = own;
}

dev_t LoopDevice::number() const {
  struct stat info{};
  return fstat(device_.get(), &info) == 0 ? info.st_rdev : 0;
}

bool loop_devices_available() {
  return access(kControl, R_OK | W_OK) == 0;
}

std::string loop_device_of(int image) {
  struct stat wanted{};
  if (fstat(image, &wanted) != 0) return "";
  for (const std::string& name : names_at("/sys/block")) {
    if (!path_exists("/sys/block/" + name + "/loop")) continue;
    const std::string path = "/dev/" + name;
    if (is_attached_to(path, wanted)) return path;
  }
  return "";
}

// Determines what this machine and this user can mount.
namespace {

bool write_file(const char* path, const std::string& text) {
  const Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool in_kernel_list(std::string_view type) {
  std::ifstream in("/proc/filesystems");
  for (std::string word; in >> word;) {
    if (word == type) return true;
  }
  return false;
}

bool fuse_works() {
  return access("/dev/fuse", R_OK | W_OK) == 0;
}

// Unmounts outside propagate inside; mounts inside stay inside. This is impossible in a chroot that
// is not a mount point. Then mounts may be visible outside, and the next run unmounts those of a
// killed run by their leases.
bool isolate_mounts() {
  return mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 || errno == EINVAL;
}

}  // namespace

MountCapability enter_mount_namespace() {
  if (!denial(CallUse::mounts).empty()) return MountCapability::none;
  if (unshare(CLONE_NEWNS) == 0) {
    if (!isolate_mounts()) return MountCapability::none;
    if (is_root() && loop_devices_available()) return MountCapability::full;
    return fuse_works() ? MountCapability::fuse_only : MountCapability::none;
  }
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (!fuse_works() || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return MountCapability::none;
  const bool mapped = write_file("/proc/self/setgroups", "deny") &&
                      write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) &&
                      write_file("/proc/self/gid_map", fmt::format("0 {} 1", group));
  return mapped && isolate_mounts() ? MountCapability::fuse_only : MountCapability::none;
}

MountCapability probe_mount_capability() {
  const pid_t child = fork();
  if (child == 0) _exit(static_cast<int>(enter_mount_namespace()));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    return MountCapability::none;
  }
  return static_cast<MountCapability>(WEXITSTATUS(status));
}

bool kernel_has(const FileSystemInfo& info) {
  if (in_kernel_list(info.kernel_type)) return true;
  // A module is listed only once it is loaded. Trying to load an unknown one is harmless.
  if (is_root() && find_program("modprobe")) {
    ChildProcess child({"modprobe", "-q", std::string(info.kernel_type)});
    child.wait(10);
  }
  return in_kernel_list(info.kernel_type);
}

bool fuse_has(const FileSystemInfo& info) {
  return !info.fuse_program.empty() && fuse_works() && find_program(info.fuse_program).has_value();
}

std::optional<Driver> choose_driver(FileSystemKind kind, MountCapability power) {
  const FileSystemInfo& info = file_system_info(kind);
  if (power == MountCapability::full && kernel_has(info)) {
    return Driver{true, std::string(info.kernel_type)};
  }
  if (power == MountCapability::none || !fuse_has(info)) return std::nullopt;
  const bool allowed = power == MountCapability::full || !info.fuse_needs_device;
  return allowed ? std::optional(Driver{false, std::string(info.fuse_program)}) : std::nullopt;
}

namespace {

// statfs succeeds only once the FUSE program is serving.
bool is_fuse_mounted(const std::string& path) {
  struct statfs info{};
  return statfs(path.c_str(), &info) == 0 && info.f_type == FUSE_SUPER_MAGIC;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Those of the user, in messages.
std::string with_options(const Format& format) {
  return format.mount_options.empty() ? ""
                                      : fmt::format(" with the options '{}'", format.mount_options);
}

}  // namespace

Mount::Mount(const Format& format, const Driver& driver, const std::string& source,
             std::string_view label)
    : state_(open_state_directory()),
      name_(fmt::format("mount-{}-{}-{}", getpid(), label, random_name())),
      path_(state_.path + "/" + name_) {
  try {
    make_mount_point();
    driver.kernel ? mount_kernel(format, driver, source) : mount_fuse(format, source);
    mounted_ = true;
    root_.reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!root_ || fstat(root_.get(), &info) != 0) {
      throw_failed(fmt::format("cannot open {} on {}: {}", source, path_, error_text(errno)));
    }
    LeaseRecord note = lease_->note();
    note.mounted = info.st_dev;
    lease_->write(std::move(note));
  } catch (...) {
    umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    remove_mount_point();
    throw;
  }
}

void Mount::make_mount_point() {
  lease_.emplace(LeaseRecord{.kind = LeaseKind::mount_point, .path = path_});
  if (mkdirat(state_.directory.get(), name_.c_str(), 0700) != 0) {
    throw_failed(fmt::format("cannot create the mount point {}: {}", path_, error_text(errno)));
  }
  if (const auto state = read_file_state(state_.directory.get(), name_))
    lease_->made(state->identity);
}

// While something is mounted on it, it cannot be removed and stays on the list: a later run or
// filereel clean removes it.
void Mount::remove_mount_point() {
  const bool is_gone = unlinkat(state_.directory.get(), name_.c_str(), AT_REMOVEDIR) == 0 ||
                       errno == ENOENT || errno == ENOTDIR;
  if (lease_ && is_gone) lease_->remove_record();
}

void Mount::mount_kernel(const Format& format, const Driver& driver, const std::string& source) {
  const KernelMountOptions options = kernel_mount_options(format);
  if (mount(source.c_str(), path_.c_str(), driver.name.c_str(), options.flags,
            options.text.c_str()) != 0) {
    throw_failed(fmt::format("cannot mount {} as {}{}: {}; see the kernel log (dmesg)", source,
                             driver.name, with_options(format), error_text(errno)));
  }
}

void Mount::mount_fuse(const Format& format, const std::string& source) {
  const std::string_view program = file_system_info(format.kind).fuse_program;
  std::optional<int> refusal;  // exit status of the driver
  for (const std::vector<std::string>& command : fuse_commands(format, source, path_)) {
    daemon_.reset();
    daemon_.emplace(command, open_unwritable_directory().get());
    refusal = await_fuse(program, source);
    if (!refusal) return;
    umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);  // it may have failed after mounting
  }
  throw_failed(fmt::format("cannot mount {} with {}{} (exit status {}): {}", source, program,
                           with_options(format), refusal.value_or(0),
                           first_line(daemon_->output())));
}

std::optional<int> Mount::await_fuse(std::string_view program, const std::string& source) {
  constexpr double kMountTimeout_s = 30;
  const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(kMountTimeout_s * 1e9);
  while (!is_fuse_mounted(path_)) {
    if (const std::optional<int> status = daemon_->wait(0.002)) return status;
    if (now_ns() > deadline) {
      throw_failed(
          fmt::format("{} did not mount {} within {} s", program, source, kMountTimeout_s));
    }
  }
  return std::nullopt;
}

Mount::~Mount() {
  try {
    unmount();
  } catch (const Error&) {
    // A detached file system is removed as soon as nothing uses it. A destructor cannot report the
    // error.
    umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
  root_.reset();
  daemon_.reset();
  remove_mount_point();
}

void Mount::unmount() {
  if (!mounted_) return;
  root_.reset();
  // A process that inspects new mounts (an indexer, a desktop) may keep it busy for a moment.
  constexpr int kTries = 100;
  for (int i = 0; umount2(path_.c_str(), UMOUNT_NOFOLLOW) != 0; ++i) {
    if (errno == EINVAL || errno == ENOENT) break;  // already unmounted
    if (errno != EBUSY || i == kTries) {
      throw_failed(fmt::format("cannot unmount {}: {}; a process may have files open there", path_,
                               error_text(errno)));
    }
    usleep(20'000);
  }
  mounted_ = false;
  if (daemon_) {
    constexpr double kFlush_s = 600;  // a slow USB stick may have much to write
    if (!daemon_->wait(kFlush_s)) throw_failed("the FUSE driver did not end after the unmount");
    daemon_.reset();
  }
}

std::optional<pid_t> Mount::driver() const {
  return daemon_ ? std::optional(daemon_->pid()) : std::nullopt;
}

}  // namespace filereel
