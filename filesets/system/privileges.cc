#include "filesets/system/privileges.h"

#include <algorithm>
#include <array>
#include <climits>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/programs.h"
#include "filesets/system/search.h"

namespace filereel {

bool is_root() noexcept {
  return geteuid() == 0;
}

namespace {

// A kernel's version.
struct Version {
  int major = 0, minor = 0;
  auto operator<=>(const Version&) const = default;
};

// `nowhere`: an address that no process has. Returns what the call returned.
using Probe = long (*)(void* nowhere);

enum class Denial {
  unusual,
  usual,       // by default policies of containers
  privileged,  // usual; and the kernel itself says EPERM to users other than root
  emulated,    // with EPERM only: for ENOSYS, the C library uses an older call
};

struct NeededCall {
  std::string_view name;
  unsigned uses;  // of CallUse
  Probe probe;
  Version since = {};  // all supported kernels have it
  Denial denial = Denial::unusual;
};

// No file has it. Sanitizers read the names that they pass on, so it must be readable.
constexpr const char* kNoName = "";

constexpr unsigned bit(CallUse use) {
  return static_cast<unsigned>(use);
}
constexpr unsigned kForVolumes = bit(CallUse::volumes), kForTrees = bit(CallUse::trees),
                   kForTracing = bit(CallUse::tracing), kForMounts = bit(CallUse::mounts),
                   kForRings = bit(CallUse::rings), kForOthers = bit(CallUse::others),
                   kForKernelPrograms = bit(CallUse::bpf);

constexpr std::array kCalls = {
    NeededCall{"openat2",
               kForVolumes | kForTrees,
               [](void* at) { return syscall(SYS_openat2, -1, at, at, 0UL); },
               {5, 6}},
    NeededCall{"access", kForVolumes | kForTracing,
               [](void*) -> long { return access(kNoName, F_OK); }},
    NeededCall{"fcntl", kForVolumes | kForTrees | kForTracing,
               [](void*) -> long { return fcntl(-1, F_GETFD); }},
    NeededCall{"fstatfs", kForVolumes | kForTrees,
               [](void* at) -> long { return fstatfs(-1, static_cast<struct statfs*>(at)); }},
    NeededCall{"fchmod", kForVolumes, [](void*) -> long { return fchmod(-1, 0); }},
    NeededCall{"getcwd", kForVolumes | kForTrees,
               [](void* at) { return syscall(SYS_getcwd, at, 0UL); }},
    NeededCall{"getdents64", kForVolumes | kForTrees,
               [](void* at) { return syscall(SYS_getdents64, -1, at, 0U); }},
    NeededCall{"lseek", kForTrees | kForOthers,
               [](void*) -> long { return lseek(-1, 0, SEEK_SET); }},
    NeededCall{"mkdir", kForVolumes, [](void*) -> long { return mkdir(kNoName, 0); }},
    NeededCall{"mkdirat", kForVolumes, [](void*) -> long { return mkdirat(AT_FDCWD, kNoName, 0); }},
    NeededCall{"prlimit64", kForVolumes,
               [](void*) { return syscall(SYS_prlimit64, 0, -1, nullptr, nullptr); }},
    NeededCall{"pwrite64", kForVolumes, [](void* at) -> long { return pwrite(-1, at, 0, 0); }},
    NeededCall{"readlink", kForVolumes | kForTrees,
               [](void* at) -> long { return readlink(kNoName, static_cast<char*>(at), 1); }},
    NeededCall{"renameat", kForVolumes,
               [](void*) -> long { return renameat(AT_FDCWD, kNoName, AT_FDCWD, kNoName); }},
    NeededCall{"syncfs", kForVolumes, [](void*) -> long { return syncfs(-1); }},
    NeededCall{"sysinfo", kForVolumes,
               [](void* at) -> long { return sysinfo(static_cast<struct sysinfo*>(at)); }},
    NeededCall{"unlinkat", kForVolumes,
               [](void*) -> long { return unlinkat(AT_FDCWD, kNoName, 0); }},
    NeededCall{"utimensat", kForVolumes,
               [](void* at) { return syscall(SYS_utimensat, -1, at, nullptr, 0); }},
    NeededCall{"clone3",
               kForVolumes | kForTrees,
               [](void*) { return syscall(SYS_clone3, 0, 0UL); },
               {5, 3},
               Denial::emulated},
    NeededCall{"socketpair", kForTracing | kForOthers,
               [](void* at) -> long { return socketpair(-1, 0, 0, static_cast<int*>(at)); }},
    NeededCall{"pipe2", kForTracing,
               [](void* at) -> long { return pipe2(static_cast<int*>(at), 0); }},
    NeededCall{"memfd_create", kForOthers,
               [](void* at) { return syscall(SYS_memfd_create, at, 0U); }},
    NeededCall{"uname", kForTracing,
               [](void* at) -> long { return uname(static_cast<struct utsname*>(at)); }},
    NeededCall{"kill", kForTracing, [](void*) -> long { return kill(INT_MAX, 0); }},
    NeededCall{"ptrace",
               kForTracing,
               [](void*) { return syscall(SYS_ptrace, -1L, -1L, 0L, 0L); },
               {},
               Denial::usual},
    NeededCall{"mount",
               kForMounts,
               [](void*) -> long { return mount(nullptr, kNoName, nullptr, 0, nullptr); },
               {},
               Denial::privileged},
    NeededCall{"umount2",
               kForMounts,
               [](void*) -> long { return umount2(kNoName, 0); },
               {},
               Denial::privileged},
    NeededCall{
        "unshare", kForMounts, [](void*) -> long { return unshare(CSIGNAL); }, {}, Denial::usual},
    NeededCall{"ioctl", kForMounts | kForOthers, [](void* at) -> long { return ioctl(-1, 0, at); }},
    NeededCall{"io_uring_setup",
               kForRings,
               [](void*) { return syscall(SYS_io_uring_setup, 0, nullptr); },
               {5, 1},
               Denial::usual},
    NeededCall{"io_uring_enter",
               kForRings,
               [](void*) { return syscall(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0UL); },
               {5, 1},
               Denial::usual},
    NeededCall{"io_uring_register",
               kForRings,
               [](void*) { return syscall(SYS_io_uring_register, -1, 0, nullptr, 0); },
               {5, 1},
               Denial::usual},
    NeededCall{"bpf",
               kForKernelPrograms,
               [](void* at) { return syscall(SYS_bpf, -1, at, 0U); },
               {},
               Denial::privileged},
    NeededCall{"copy_file_range", kForOthers,
               [](void*) -> long { return copy_file_range(-1, nullptr, -1, nullptr, 0, 0); }},
    NeededCall{"faccessat2",
               kForOthers,
               [](void* at) { return syscall(SYS_faccessat2, AT_FDCWD, at, 0, 0); },
               {5, 8}},
    NeededCall{"fallocate", kForOthers, [](void*) -> long { return fallocate(-1, 0, 0, 1); }},
    NeededCall{"fdatasync", kForOthers, [](void*) -> long { return fdatasync(-1); }},
    NeededCall{"flock", kForOthers, [](void*) { return syscall(SYS_flock, -1, 0); }},
    NeededCall{"fstat", kForOthers, [](void* at) { return syscall(SYS_fstat, -1, at); }},
    NeededCall{"fsync", kForOthers, [](void*) -> long { return fsync(-1); }},
    NeededCall{"ftruncate", kForOthers, [](void*) -> long { return ftruncate(-1, 0); }},
    NeededCall{"linkat", kForOthers,
               [](void*) -> long { return linkat(AT_FDCWD, kNoName, AT_FDCWD, kNoName, 0); }},
    NeededCall{"madvise", kForOthers, [](void* at) { return syscall(SYS_madvise, at, 1UL, 0); }},
    NeededCall{
        "readlinkat", kForOthers,
        [](void* at) -> long { return readlinkat(AT_FDCWD, kNoName, static_cast<char*>(at), 1); }},
    NeededCall{"renameat2", kForOthers,
               [](void* at) { return syscall(SYS_renameat2, AT_FDCWD, at, AT_FDCWD, at, 0); }},
    NeededCall{"sendfile", kForOthers, [](void*) -> long { return sendfile(-1, -1, nullptr, 0); }},
    NeededCall{"symlinkat", kForOthers,
               [](void*) -> long { return symlinkat(kNoName, AT_FDCWD, kNoName); }},
};

// The error of a call that is denied or missing; 0 if the kernel has looked at the arguments.
int error_of(const NeededCall& call) {
  void* const nowhere = reinterpret_cast<void*>(1UL);
  const int before = errno;
  errno = 0;
  const long result = call.probe(nowhere);
  const int error = result < 0 ? errno : 0;
  errno = before;
  if (error == EPERM) return call.denial != Denial::privileged || is_root() ? error : 0;
  return error == ENOSYS && call.denial != Denial::emulated ? error : 0;
}

Version this_kernel() {
  utsname name{};
  Version version;
  // NOLINTNEXTLINE(cert-err34-c): the kernel's own digits
  if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &version.major, &version.minor) != 2) {
    return {INT_MAX, 0};
  }
  return version;
}

const char* error_name(int error) {
  return error == EPERM ? "EPERM" : "ENOSYS";
}

std::string denial(const NeededCall& call) {
  const int error = error_of(call);
  if (error == 0) return "";
  const Version now = this_kernel();
  if (error == ENOSYS && now < call.since) {
    return fmt::format("{} needs Linux {}.{}, and this is {}.{}: use a newer kernel", call.name,
                       call.since.major, call.since.minor, now.major, now.minor);
  }
  return fmt::format(
      "a policy denies the system call {} here ({}), such as the seccomp policy of a "
      "container: allow it there, or run outside of it",
      call.name, error_name(error));
}

}  // namespace

std::string denial(std::string_view call) {
  const NeededCall* const found = find_or_null(kCalls, call, &NeededCall::name);
  return found ? denial(*found) : "";
}

std::string denial(CallUse use) {
  for (const NeededCall& call : kCalls) {
    if ((call.uses & bit(use)) == 0) continue;
    if (std::string text = denial(call); !text.empty()) return text;
  }
  return "";
}

void require_calls(CallUse use, std::string_view what) {
  const std::string text = denial(use);
  if (!text.empty()) throw_failed(fmt::format("{} is impossible: {}", what, text));
}

std::string denials_note() {
  std::vector<std::string_view> names;
  for (const NeededCall& call : kCalls) {
    const bool usual = call.denial == Denial::usual || call.denial == Denial::privileged;
    if (!usual && error_of(call) != 0) names.push_back(call.name);
  }
  if (names.empty()) return "";
  return fmt::format(
      " (a policy denies {} here, such as the seccomp policy of a container: allow {} "
      "there)",
      fmt::join(names, ", "), names.size() == 1 ? "it" : "them");
}

std::string denied_calls() {
  std::vector<std::string> denied;
  for (const NeededCall& call : kCalls) {
    if (const int error = error_of(call)) {
      denied.push_back(fmt::format("{} ({})", call.name, error_name(error)));
    }
  }
  return fmt::format("{}", fmt::join(denied, ", "));
}

bool has_proc() {
  struct stat info{};
  return stat("/proc/self/fd", &info) == 0;
}

void require_proc(std::string_view what) {
  if (has_proc()) return;
  throw_failed(
      fmt::format("{} needs /proc, which is not mounted here: mount it (mount -t proc proc "
                  "/proc)",
                  what));
}

namespace {

bool may_trace_anything() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  return (sets[CAP_SYS_PTRACE / 32].effective >> CAP_SYS_PTRACE % 32 & 1) != 0;
}

// The interpreter in the first line of a script; empty: no script.
std::string interpreter_of(int fd) {
  constexpr std::string_view kBegin = "#!", kBlank = " \t";
  std::array<char, 256> begin{};  // as much as the kernel reads
  const ssize_t size = pread(fd, begin.data(), begin.size(), 0);
  std::string_view line(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!line.starts_with(kBegin)) return {};
  line = line.substr(kBegin.size(), line.find('\n') - kBegin.size());
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  return std::string(line.substr(0, line.find_first_of(kBlank)));
}

// The kernel follows this many.
constexpr int kMostInterpreters = 5;

std::string lost_by(const std::string& path, int interpreters) {
  struct stat status{};
  struct statvfs volume{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  // Programs with such bits often cannot be read by others; then it is no script.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  // The kernel ignores the bits of a script.
  const std::string interpreter = file ? interpreter_of(file.get()) : std::string();
  if (!interpreter.empty()) return interpreters > 0 ? lost_by(interpreter, interpreters - 1) : "";
  if (statvfs(path.c_str(), &volume) != 0 || (volume.f_flag & ST_NOSUID) != 0) return "";
  std::string lost;
  const auto add = [&](const char* what) {
    if (!lost.empty()) lost += ", ";
    lost += what;
  };
  const bool sets_group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) add("set-user-ID");
  if (sets_group && status.st_gid != getegid()) add("set-group-ID");
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) add("capabilities");
  return lost;
}

}  // namespace

std::string privileges_lost_to_tracing(const std::string& command) {
  const std::optional<std::string> path = file_of_command(command);
  if (!path || may_trace_anything() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return "";
  return lost_by(*path, kMostInterpreters);
}

}  // namespace filereel
