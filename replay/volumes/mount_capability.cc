// Determines what this machine and this user can mount.
#include <fstream>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/root_user.h"
#include "filesets/system/sandbox.h"
#include "replay/volumes/loop_device.h"
#include "replay/volumes/mount.h"

namespace filereel {
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

}  // namespace filereel
