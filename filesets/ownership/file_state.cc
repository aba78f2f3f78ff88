#include "filesets/ownership/file_state.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"

// Defined in <linux/stat.h>, which conflicts with <sys/stat.h> in some C libraries.
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

namespace filereel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Where a policy denies statx: without the birth time and the mount, as on file systems that have
// no birth times.
std::optional<FileState> older_state(int directory, const std::string& name, int flags) {
  struct stat info{};
  if (fstatat(directory, name.c_str(), &info, flags) != 0) return std::nullopt;
  FileState state;
  state.identity.inode = info.st_ino;
  state.mode = info.st_mode;
  state.owner = info.st_uid;
  state.links = static_cast<std::uint32_t>(info.st_nlink);
  state.size = static_cast<std::uint64_t>(info.st_size);
  state.modified_ns = nanoseconds(info.st_mtim);
  state.changed_ns = nanoseconds(info.st_ctim);
  return state;
}

}  // namespace

bool FileState::is_directory() const {
  return S_ISDIR(mode);
}

std::optional<FileState> read_file_state(int directory, const std::string& name) {
  struct statx info{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name.empty() ? AT_EMPTY_PATH : 0);
  if (statx(directory, name.c_str(), flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
            &info) != 0) {
    return errno == EPERM || errno == ENOSYS ? older_state(directory, name, flags) : std::nullopt;
  }
  FileState state;
  state.identity.inode = info.stx_ino;
  if ((info.stx_mask & STATX_BTIME) != 0) state.identity.birth_ns = nanoseconds(info.stx_btime);
  state.mode = info.stx_mode;
  state.owner = info.stx_uid;
  state.links = info.stx_nlink;
  constexpr std::uint64_t kBlock = 512;  // statx(2)
  state.size = info.stx_size;
  state.allocated = info.stx_blocks > 0 ? info.stx_blocks * kBlock : info.stx_size;
  state.modified_ns = nanoseconds(info.stx_mtime);
  state.changed_ns = nanoseconds(info.stx_ctime);
  if ((info.stx_mask & STATX_MNT_ID) != 0) state.mount = info.stx_mnt_id;
  return state;
}

bool keeps_identities(int file) {
  // From the headers of the drivers; Debian 12 has no names for them.
  constexpr unsigned long kExfat = 0x2011bab0, kCifs = 0xff534d42, kSmb2 = 0xfe534d42;
  constexpr std::array kWithout = {static_cast<unsigned long>(FUSE_SUPER_MAGIC),
                                   static_cast<unsigned long>(MSDOS_SUPER_MAGIC), kExfat, kCifs,
                                   kSmb2};
  struct statfs info{};
  if (fstatfs(file, &info) != 0) return false;
  constexpr unsigned long kMagic = 0xffffffff;  // the field is signed and may be wider
  const unsigned long type = static_cast<unsigned long>(info.f_type) & kMagic;
  return !contains(kWithout, type);
}

Descriptor hold_identity(int directory, const std::string& name, bool lasting) {
  if (lasting) return {};
  return Descriptor(openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

bool is_removed_on_server(int file) {
  // Figures on space are not kept by sshfs, NFS and the like.
  struct statfs info{};
  return fstatfs(file, &info) != 0 && (errno == ENOENT || errno == ESTALE);
}

bool set_mode(int fd, mode_t mode) {
  constexpr mode_t kRights = 07777;
  // fchmod(2) fails for O_PATH descriptors.
  return chmod(fmt::format("/proc/self/fd/{}", fd).c_str(), mode & kRights) == 0;
}

Descriptor grant_access(int parent, const std::string& name, mode_t mode) {
  Descriptor directory(openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory && !set_mode(directory.get(), mode | S_IRWXU)) directory.reset();
  return directory;
}

std::int64_t earliest_birth_time() {
  constexpr std::int64_t kCoarsest = 2'000'000'000;  // FAT
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const std::int64_t now_ns = now.tv_sec * kSecond + now.tv_nsec;
  return now_ns - kCoarsest;
}

std::string_view name_of_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    default:
      return "a file";
  }
}

std::string_view protection_of(int directory, const std::string& name) {
  const int before = errno;
  struct statx state{};
  const int found =
      statx(directory, name.c_str(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &state);
  errno = before;
  if (found != 0) return "";
  if (state.stx_attributes & STATX_ATTR_IMMUTABLE) return "immutable (chattr +i)";
  return state.stx_attributes & STATX_ATTR_APPEND ? "append-only (chattr +a)" : "";
}

void require_changeable(int directory, const std::string& shown) {
  const std::string_view protection = protection_of(directory);
  if (protection.empty()) return;
  const bool immutable = protection.starts_with("immutable");
  throw_failed(fmt::format(
      "{} is {}: nothing in it can be {}; remove the attribute (chattr -{}), or choose another "
      "directory",
      printable(shown), protection, immutable ? "created" : "removed", immutable ? 'i' : 'a'));
}

namespace {

bool is_mounted(dev_t device) {
  const std::vector<MountedFileSystem> all = mounted_file_systems();
  return std::ranges::any_of(
      all, [&](const MountedFileSystem& mounted) { return mounted.device == device; });
}

// Whether the mount that the path lies on answers.
bool mount_works(const std::string& path) {
  const auto mounted = RemoteMounts().on_way_to(path);
  struct statfs info{};
  return mounted && statfs(mounted->mount_point.c_str(), &info) == 0;
}

}  // namespace

std::string fate_of(int directory, const std::string& path) {
  // Unless the driver is lost, too, the mount says so.
  if (is_removed_on_server(directory) && mount_works(path)) return "was removed";
  const std::optional<FileState> ours = read_file_state(directory);
  struct stat info{};
  if (!ours || fstat(directory, &info) != 0) return "stopped responding";  // a lost FUSE driver
  const Descriptor now(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::optional<FileState> there = now ? read_file_state(now.get()) : std::nullopt;
  if (there && there->identity == ours->identity) return "";
  if (info.st_nlink == 0) return "was removed";
  const std::string elsewhere = path_of_directory(directory, path);
  if (!elsewhere.empty() && elsewhere != path) return "was renamed to " + printable(elsewhere);
  if (!is_mounted(info.st_dev)) return "was unmounted";
  return there ? "was replaced" : "was removed or moved";
}

void require_present(int directory, const std::string& path, const std::string& shown) {
  const std::string fate = fate_of(directory, path);
  if (fate.empty()) return;
  const bool mount = fate == "was unmounted" || fate == "stopped responding";
  throw_failed(fmt::format("{} {}{} during the run; {} and restart the run", printable(shown), fate,
                           mount ? "" : " by another program",
                           mount ? "mount it again" : "keep other programs out of it"));
}

}  // namespace filereel
