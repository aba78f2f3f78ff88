#include "replay/volumes/mount.h"

#include <cstdio>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/error.h"
#include "replay/measure/clock.h"
#include "replay/volumes/sysfs.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr std::string_view kPrefix = "filereel-mount-";

std::string mount_point_folder() {
  const char* folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

// FUSE answers only once its program has begun to serve.
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
    : path_(fmt::format("{}/{}{}-{}-XXXXXX", mount_point_folder(), kPrefix, getpid(), label)) {
  if (!mkdtemp(path_.data())) {  // a name that nobody can have taken before
    throw_failed(
        fmt::format("cannot make the mount point {}: {}; set TMPDIR to a folder that can be "
                    "written",
                    path_, strerror(errno)));
  }
  try {
    driver.kernel ? mount_kernel(kind, driver, source) : mount_fuse(kind, source);
    mounted_ = true;
    root_.reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root_)
      throw_failed(fmt::format("cannot open {} on {}: {}", source, path_, strerror(errno)));
  } catch (...) {
    umount2(path_.c_str(),
            MNT_DETACH | UMOUNT_NOFOLLOW);  // a FUSE driver may fail after it has mounted
    rmdir(path_.c_str());
    throw;
  }
}

void Mount::mount_kernel(FileSystemKind kind, const Driver& driver, const std::string& source) {
  const std::string options(kernel_mount_options(kind));
  if (mount(source.c_str(), path_.c_str(), driver.name.c_str(), 0, options.c_str()) != 0) {
    throw_failed(fmt::format("cannot mount {} as {}: {}; see the kernel's log (dmesg)", source,
                             driver.name, strerror(errno)));
  }
}

void Mount::mount_fuse(FileSystemKind kind, const std::string& source) {
  const FileSystemInfo& info = file_system_info(kind);
  daemon_.emplace(fuse_command(kind, source, path_), info.fuse_package);
  constexpr double kPatience_s = 30;
  const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(kPatience_s * 1e9);
  while (!is_fuse_mounted(path_)) {
    if (const std::optional<int> status = daemon_->wait(0.002)) {
      throw_failed(fmt::format("cannot mount {} with {} (it exited with {}): {}", source,
                               info.fuse_program, *status, first_line(daemon_->output())));
    }
    if (now_ns() > deadline) {
      throw_failed(
          fmt::format("{} does not serve {} after {} s", info.fuse_program, source, kPatience_s));
    }
  }
}

Mount::~Mount() {
  try {
    unmount();
  } catch (const Error&) {
    // Detached, the file system goes as soon as nothing uses it; there is nobody to tell.
    umount2(path_.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
  daemon_.reset();
  rmdir(path_.c_str());
}

void Mount::unmount() {
  if (!mounted_) return;
  root_.reset();
  // Something that looks at every new mount (an indexer, a desktop) may keep it busy for a moment.
  constexpr int kTries = 100;
  for (int i = 0; umount2(path_.c_str(), UMOUNT_NOFOLLOW) != 0; ++i) {
    if (errno == EINVAL || errno == ENOENT) break;  // somebody else has unmounted it
    if (errno != EBUSY || i == kTries) {
      throw_failed(fmt::format("cannot unmount {}: {}; something may have files open there", path_,
                               strerror(errno)));
    }
    usleep(20'000);
  }
  mounted_ = false;
  if (daemon_) {
    constexpr double kFlush_s = 600;  // a slow stick has a lot to write
    if (!daemon_->wait(kFlush_s)) throw_failed("the FUSE driver does not end after its unmount");
    daemon_.reset();
  }
}

double Mount::driver_cpu_s() const {
  if (!daemon_) return 0;
  // Fields 14 and 15, counted behind the name in parentheses, which may hold anything (proc(5)).
  const std::string stat = read_sysfs(fmt::format("/proc/{}/stat", daemon_->pid()));
  const std::size_t name_end = stat.rfind(')');
  unsigned long user = 0, system = 0;
  if (name_end == std::string::npos ||
      sscanf(stat.c_str() + name_end + 1,  // NOLINT(cert-err34-c): the kernel's own digits
             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
    return 0;
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void remove_stale_mount_points() {
  boost::system::error_code ignored;
  for (const auto& entry : fs::directory_iterator(mount_point_folder(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t owner = atoi(name.c_str() + kPrefix.size());
    if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH) continue;
    struct stat info{};
    if (lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    // Only where the run had no namespace of its own.
    umount2(entry.path().c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    if (info.st_uid == geteuid()) rmdir(entry.path().c_str());  // an empty folder or nothing
  }
}

}  // namespace filereel
