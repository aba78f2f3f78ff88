#include "replay/volumes/mount.h"

#include <cstdio>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

// statfs succeeds only once the FUSE program is serving.
bool is_fuse_mounted(const std::string& path) {
  struct statfs info{};
  return statfs(path.c_str(), &info) == 0 && info.f_type == FUSE_SUPER_MAGIC;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

Mount::Mount(FileSystemKind kind, const Driver& driver, const std::string& source,
             std::string_view label)
    : state_(open_state_directory()),
      name_(fmt::format("mount-{}-{}-{}", getpid(), label, random_name())),
      path_(state_.path + "/" + name_) {
  try {
    make_mount_point();
    driver.kernel ? mount_kernel(kind, driver, source) : mount_fuse(kind, source);
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

void Mount::mount_kernel(FileSystemKind kind, const Driver& driver, const std::string& source) {
  const std::string options(kernel_mount_options(kind));
  if (mount(source.c_str(), path_.c_str(), driver.name.c_str(), 0, options.c_str()) != 0) {
    throw_failed(fmt::format("cannot mount {} as {}: {}; see the kernel log (dmesg)", source,
                             driver.name, error_text(errno)));
  }
}

void Mount::mount_fuse(FileSystemKind kind, const std::string& source) {
  const std::string_view program = file_system_info(kind).fuse_program;
  std::optional<int> refusal;  // exit status of the driver
  for (const std::vector<std::string>& command : fuse_commands(kind, source, path_)) {
    daemon_.reset();
    daemon_.emplace(command);
    refusal = await_fuse(program, source);
    if (!refusal) return;
    umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);  // it may have failed after mounting
  }
  throw_failed(fmt::format("cannot mount {} with {} (exit status {}): {}", source, program,
                           refusal.value_or(0), first_line(daemon_->output())));
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
