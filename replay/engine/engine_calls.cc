#include "replay/engine/engine_calls.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "filesets/system/descriptor.h"

namespace filereel {
namespace {

// Not in the headers of Debian 12; the same on all architectures.
constexpr long kFchmodat2 = 452;

// A path to an open file, or to a name in an open directory, for calls that take only paths.
// Following this path is safe up to its last component.
class DescriptorPath {
 public:
  explicit DescriptorPath(CallTarget target) noexcept {
    char* end = fmt::format_to_n(text_, 32, "/proc/self/fd/{}", target.fd).out;
    if (target.name) {
      const std::size_t length = strlen(target.name);
      fits_ = length <= NAME_MAX;
      if (!fits_) return;
      *end++ = '/';
      end = std::copy_n(target.name, length, end);
    }
    *end = '\0';
  }
  bool fits() const { return fits_; }
  const char* c_str() const { return text_; }

 private:
  char text_[32 + 1 + NAME_MAX + 1];
  bool fits_ = true;
};

// Calls call(path) with a path for `target`, which has a name.
template <class Call>
std::int64_t by_path(CallTarget target, Call call) noexcept {
  const DescriptorPath path(target);
  return path.fits() ? LinuxCalls::checked(call(path.c_str())) : -ENAMETOOLONG;
}

// Calls call(descriptor) with an O_PATH descriptor of the target.
template <class Call>
std::int64_t by_handle(CallTarget target, Call call) noexcept {
  const std::int64_t fd = LinuxCalls::open(target.fd, target.name, O_PATH, 0);
  if (fd < 0) return fd;
  const Descriptor handle(static_cast<int>(fd));
  return LinuxCalls::checked(call(handle.get()));
}

timespec time_of(std::uint64_t ns) {
  if (ns == kTimeNow) return {0, UTIME_NOW};
  if (ns == kTimeOmit) return {0, UTIME_OMIT};
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto since = static_cast<std::int64_t>(ns);
  std::int64_t seconds = since / kSecond;
  std::int64_t rest = since % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {seconds, rest};
}

// For kernels before 6.6, which lack this call. Some sandboxes return EPERM for unknown calls.
std::int64_t change_mode_by_handle(CallTarget target, mode_t mode) noexcept {
  const std::int64_t fd = LinuxCalls::open(target.fd, target.name, O_PATH, 0);
  if (fd < 0) return fd;
  const Descriptor handle(static_cast<int>(fd));
  struct stat info{};
  if (::fstat(handle.get(), &info) < 0) return -errno;
  if (S_ISLNK(info.st_mode)) return -EOPNOTSUPP;
  return by_path({handle.get(), nullptr}, [mode](const char* path) { return ::chmod(path, mode); });
}

}  // namespace

std::int64_t LinuxCalls::open_beneath(int root, const char* path) noexcept {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return direct_call(SYS_openat2, root, path, &how, sizeof how);
}

std::int64_t LinuxCalls::sync_range(int fd, std::uint64_t offset, std::uint64_t length,
                                    unsigned flags) noexcept {
  return checked(
      ::sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(length), flags));
}

std::int64_t LinuxCalls::sync_volume(int fd) noexcept {
  return checked(::syncfs(fd));
}

std::int64_t LinuxCalls::allocate(int fd, int flags, std::uint64_t offset,
                                  std::uint64_t length) noexcept {
  return checked(::fallocate(fd, flags, static_cast<off_t>(offset), static_cast<off_t>(length)));
}

std::int64_t LinuxCalls::seek(int fd, std::uint64_t offset, int whence) noexcept {
  return checked(::lseek(fd, static_cast<off_t>(offset), whence));
}

std::int64_t LinuxCalls::list(int directory, std::span<std::byte> to) noexcept {
  return direct_call(SYS_getdents64, directory, to.data(), to.size());
}

std::int64_t LinuxCalls::advise(int fd, std::uint64_t offset, std::uint64_t length,
                                int advice) noexcept {
  return -::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length), advice);
}

std::int64_t LinuxCalls::read_ahead(int fd, std::uint64_t offset, std::uint64_t length) noexcept {
  return checked(::readahead(fd, static_cast<off64_t>(offset), length));
}

std::int64_t LinuxCalls::set_flags(int fd, int flags) noexcept {
  return checked(::fcntl(fd, F_SETFL, flags));
}

std::int64_t LinuxCalls::lock(int fd, std::uint32_t flags, std::uint64_t offset,
                              std::uint64_t length) noexcept {
  const bool unlock = (flags & lock_flags::kUnlock) != 0;
  const bool shared = (flags & lock_flags::kShared) != 0;
  if ((flags & lock_flags::kRecord) == 0) {
    return checked(::flock(fd, unlock ? LOCK_UN : (shared ? LOCK_SH : LOCK_EX) | LOCK_NB));
  }
  struct flock range{};
  range.l_type = static_cast<short>(unlock ? F_UNLCK : shared ? F_RDLCK : F_WRLCK);
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(length);
  return checked(::fcntl(fd, F_OFD_SETLK, &range));
}

std::int64_t LinuxCalls::copy_file_range(int from, std::uint64_t from_offset, int to,
                                         std::uint64_t to_offset, std::size_t length) noexcept {
  auto in = static_cast<off_t>(from_offset);
  auto out = static_cast<off_t>(to_offset);
  return checked(::copy_file_range(from, &in, to, &out, length, 0));
}

// sendfile takes no offset for the destination, so its position is set first. All other operations
// on open files have explicit offsets.
std::int64_t LinuxCalls::sendfile(int from, std::uint64_t from_offset, int to,
                                  std::uint64_t to_offset, std::size_t length) noexcept {
  if (::lseek(to, static_cast<off_t>(to_offset), SEEK_SET) < 0) return -errno;
  auto in = static_cast<off_t>(from_offset);
  return checked(::sendfile(to, from, &in, length));
}

std::int64_t LinuxCalls::clone(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                               std::uint64_t length) noexcept {
  file_clone_range range{};
  range.src_fd = from;
  range.src_offset = from_offset;
  range.src_length = length;
  range.dest_offset = to_offset;
  return checked(::ioctl(to, FICLONERANGE, &range));
}

std::int64_t LinuxCalls::mkdir(int parent, const char* name, mode_t mode) noexcept {
  return direct_call(SYS_mkdirat, parent, name, mode);
}

std::int64_t LinuxCalls::unlink(int parent, const char* name, int flags) noexcept {
  return direct_call(SYS_unlinkat, parent, name, flags);
}

std::int64_t LinuxCalls::symlink(const char* text, int parent, const char* name) noexcept {
  return checked(::symlinkat(text, parent, name));
}

std::int64_t LinuxCalls::link(CallTarget old, int parent, const char* name) noexcept {
  if (old.name) return checked(::linkat(old.fd, old.name, parent, name, 0));
  const std::int64_t result = checked(::linkat(old.fd, "", parent, name, AT_EMPTY_PATH));
  if (result != -ENOENT) return result;
  // Without CAP_DAC_READ_SEARCH only the path through /proc is permitted.
  return by_path(old, [&](const char* path) {
    return ::linkat(AT_FDCWD, path, parent, name, AT_SYMLINK_FOLLOW);
  });
}

std::int64_t LinuxCalls::rename(int old_parent, const char* old_name, int parent, const char* name,
                                unsigned flags) noexcept {
  return direct_call(SYS_renameat2, old_parent, old_name, parent, name, flags);
}

std::int64_t LinuxCalls::access(int parent, const char* name, int mode) noexcept {
  // glibc 2.36 would emulate the flag.
  return direct_call(SYS_faccessat2, parent, name, mode, AT_SYMLINK_NOFOLLOW);
}

std::int64_t LinuxCalls::read_link(int parent, const char* name, std::span<std::byte> to) noexcept {
  return checked(::readlinkat(parent, name, reinterpret_cast<char*>(to.data()), to.size()));
}

std::int64_t LinuxCalls::enter_directory(int parent, const char* name) noexcept {
  const std::int64_t fd = open(parent, name, O_PATH | O_DIRECTORY, 0);
  return fd < 0 ? fd : close(static_cast<int>(fd));
}

std::int64_t LinuxCalls::truncate(CallTarget target, std::uint64_t size) noexcept {
  const auto length = static_cast<off_t>(size);
  if (!target.name) return checked(::ftruncate(target.fd, length));
  if (length < 0) return -EINVAL;
  const std::int64_t fd = open(target.fd, target.name, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) return fd;
  const Descriptor file(static_cast<int>(fd));
  return checked(::ftruncate(file.get(), length));
}

std::int64_t LinuxCalls::stat(CallTarget target) noexcept {
  struct stat info;
  if (!target.name) return direct_call(SYS_fstat, target.fd, &info);
  return direct_call(SYS_newfstatat, target.fd, target.name, &info,
                     AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
}

std::int64_t LinuxCalls::stat_volume(CallTarget target) noexcept {
  struct statfs info;
  if (!target.name) return checked(::fstatfs(target.fd, &info));
  return by_handle(target, [&info](int fd) { return ::fstatfs(fd, &info); });
}

std::int64_t LinuxCalls::change_mode(CallTarget target, mode_t mode) noexcept {
  if (!target.name) return checked(::fchmod(target.fd, mode));
  const std::int64_t result =
      checked(syscall(kFchmodat2, target.fd, target.name, mode, AT_SYMLINK_NOFOLLOW));
  if (result != -ENOSYS && result != -EPERM) return result;
  return change_mode_by_handle(target, mode);
}

std::int64_t LinuxCalls::change_owner(CallTarget target, uid_t user, gid_t group) noexcept {
  if (!target.name) return checked(::fchown(target.fd, user, group));
  return checked(::fchownat(target.fd, target.name, user, group, AT_SYMLINK_NOFOLLOW));
}

std::int64_t LinuxCalls::set_times(CallTarget target, std::uint64_t access,
                                   std::uint64_t modification) noexcept {
  const timespec times[2] = {time_of(access), time_of(modification)};
  if (!target.name) return checked(::futimens(target.fd, times));
  return checked(::utimensat(target.fd, target.name, times, AT_SYMLINK_NOFOLLOW));
}

std::int64_t LinuxCalls::get_xattr(CallTarget target, const char* name,
                                   std::span<std::byte> to) noexcept {
  if (!target.name) return checked(::fgetxattr(target.fd, name, to.data(), to.size()));
  return by_path(target,
                 [&](const char* path) { return ::lgetxattr(path, name, to.data(), to.size()); });
}

std::int64_t LinuxCalls::set_xattr(CallTarget target, const char* name,
                                   std::span<const std::byte> value, int flags) noexcept {
  if (!target.name) {
    return checked(::fsetxattr(target.fd, name, value.data(), value.size(), flags));
  }
  return by_path(target, [&](const char* path) {
    return ::lsetxattr(path, name, value.data(), value.size(), flags);
  });
}

std::int64_t LinuxCalls::list_xattr(CallTarget target, std::span<std::byte> to) noexcept {
  const auto list = reinterpret_cast<char*>(to.data());
  if (!target.name) return checked(::flistxattr(target.fd, list, to.size()));
  return by_path(target, [&](const char* path) { return ::llistxattr(path, list, to.size()); });
}

std::int64_t LinuxCalls::remove_xattr(CallTarget target, const char* name) noexcept {
  if (!target.name) return checked(::fremovexattr(target.fd, name));
  return by_path(target, [&](const char* path) { return ::lremovexattr(path, name); });
}

std::int64_t LinuxCalls::map(int fd, std::uint64_t offset, std::uint64_t length, int protection,
                             int flags, std::byte*& begin) noexcept {
  begin = nullptr;
  void* const at = ::mmap(nullptr, length, protection, flags, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return -errno;
  begin = static_cast<std::byte*>(at);
  return 0;
}

std::int64_t LinuxCalls::unmap(std::byte* begin, std::uint64_t length) noexcept {
  return checked(::munmap(begin, length));
}

std::int64_t LinuxCalls::sync_map(std::byte* begin, std::uint64_t length, int flags) noexcept {
  return checked(::msync(begin, length, flags));
}

std::int64_t LinuxCalls::fault(std::byte* begin, std::uint64_t length, bool write) noexcept {
  return checked(::madvise(begin, length, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ));
}

}  // namespace filereel
