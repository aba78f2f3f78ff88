#include "traces/import/strace_calls.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "traces/import/name_table.h"
#include "traces/import/strace_finish.h"

namespace filereel {
namespace {

using enum Call;
using namespace strace_finish;

constexpr std::uint64_t kCreat = O_CREAT | O_WRONLY | O_TRUNC;
constexpr std::uint64_t kCloexec = O_CLOEXEC;
constexpr std::uint64_t kNoFollow = AT_SYMLINK_NOFOLLOW;

// clang-format off
constexpr auto kCalls = sorted_by_name(std::array{
    // Opening and closing.
    StraceCall{"open", open, "pgm"},
    StraceCall{"openat", open, "dpgm"},
    StraceCall{"openat2", open, "dp-", 0, open_how},
    StraceCall{"creat", open, "pm", kCreat},
    StraceCall{"close", close, "f"},
    StraceCall{"close_range", close_range, "--g", 0, range_of_descriptors},
    // Data.
    StraceCall{"read", read, "f-l"},
    StraceCall{"pread", read, "f-lo"},
    StraceCall{"pread64", read, "f-lo"},
    StraceCall{"readv", read, "fv-"},
    StraceCall{"preadv", read, "fv-o"},
    StraceCall{"preadv2", read, "fv-og", 0, perhaps_positional},
    StraceCall{"write", write, "f-l"},
    StraceCall{"pwrite", write, "f-lo"},
    StraceCall{"pwrite64", write, "f-lo"},
    StraceCall{"writev", write, "fv-"},
    StraceCall{"pwritev", write, "fv-o"},
    StraceCall{"pwritev2", write, "fv-og", 0, perhaps_positional},
    StraceCall{"lseek", seek, "fog"},
    StraceCall{"_llseek", seek, "fo-g", 0, long_seek},
    StraceCall{"copy_file_range", copy_file_range, "fiFIl-"},
    StraceCall{"sendfile", sendfile, "Ffil"},
    StraceCall{"sendfile64", sendfile, "Ffil"},
    StraceCall{"splice", splice, "fiFIl-"},
    StraceCall{"ioctl", clone_range, "f--", 0, ioctl},
    StraceCall{"io_submit", submit, "a--", 0, submitted},
    StraceCall{"io_getevents", complete, "a---", 0, completed},
    StraceCall{"io_pgetevents", complete, "a---", 0, completed},
    StraceCall{"io_pgetevents_time64", complete, "a---", 0, completed},
    StraceCall{"io_cancel", complete, "", 0, not_followed},
    // Sizes, durability, advice, locks.
    StraceCall{"truncate", truncate, "po"},
    StraceCall{"truncate64", truncate, "po"},
    StraceCall{"ftruncate", ftruncate, "fo"},
    StraceCall{"ftruncate64", ftruncate, "fo"},
    StraceCall{"fallocate", fallocate, "fgol"},
    StraceCall{"fsync", fsync, "f"},
    StraceCall{"fdatasync", fdatasync, "f"},
    StraceCall{"sync_file_range", sync_file_range, "folg"},
    StraceCall{"sync_file_range2", sync_file_range, "fgol"},
    StraceCall{"syncfs", syncfs, "f"},
    StraceCall{"sync", sync, ""},
    StraceCall{"fadvise64", fadvise, "folg"},
    StraceCall{"fadvise64_64", fadvise, "folg"},
    StraceCall{"readahead", readahead, "fol"},
    StraceCall{"flock", flock, "fg"},
    StraceCall{"fcntl", record_lock, "f--", 0, fcntl},
    StraceCall{"fcntl64", record_lock, "f--", 0, fcntl},
    // What there is to know of files.
    StraceCall{"stat", stat, "ps"},
    StraceCall{"stat64", stat, "ps"},
    StraceCall{"lstat", stat, "ps", kNoFollow},
    StraceCall{"lstat64", stat, "ps", kNoFollow},
    StraceCall{"fstat", fstat, "fs"},
    StraceCall{"fstat64", fstat, "fs"},
    StraceCall{"newfstatat", stat, "dpsg", 0, stat_at},
    StraceCall{"fstatat64", stat, "dpsg", 0, stat_at},
    StraceCall{"statx", stat, "dpg-s", 0, stat_at},
    StraceCall{"statfs", statfs, "p"},
    StraceCall{"statfs64", statfs, "p"},
    StraceCall{"fstatfs", fstatfs, "f"},
    StraceCall{"fstatfs64", fstatfs, "f"},
    StraceCall{"access", access, "pm"},
    StraceCall{"faccessat", access, "dpm"},
    StraceCall{"faccessat2", access, "dpmg"},
    StraceCall{"readlink", readlink, "p-l", 0, read_link},
    StraceCall{"readlinkat", readlink, "dp-l", 0, read_link_at},
    StraceCall{"getdents", getdents, "f-l", 0, list},
    StraceCall{"getdents64", getdents, "f-l", 0, list},
    // Names.
    StraceCall{"mkdir", mkdir, "pm"},
    StraceCall{"mkdirat", mkdir, "dpm"},
    StraceCall{"rmdir", rmdir, "p"},
    StraceCall{"unlink", unlink, "p"},
    StraceCall{"unlinkat", unlink, "dpg", 0, unlink_at},
    StraceCall{"rename", rename, "pP"},
    StraceCall{"renameat", rename, "dpDP"},
    StraceCall{"renameat2", rename, "dpDPg"},
    StraceCall{"link", link, "pP"},
    StraceCall{"linkat", link, "dpDPg"},
    StraceCall{"symlink", symlink, "tp"},
    StraceCall{"symlinkat", symlink, "tdp"},
    StraceCall{"mknod", mknod, "pm"},
    StraceCall{"mknodat", mknod, "dpm"},
    StraceCall{"chdir", chdir, "p"},
    StraceCall{"fchdir", fchdir, "f"},
    StraceCall{"chroot", chroot, "p"},
    StraceCall{"umask", umask, "m"},
    StraceCall{"mount", chroot, "", 0, not_followed},
    StraceCall{"move_mount", chroot, "", 0, not_followed},
    StraceCall{"umount", chroot, "", 0, not_followed},
    StraceCall{"umount2", chroot, "", 0, not_followed},
    StraceCall{"pivot_root", chroot, "", 0, not_followed},
    StraceCall{"setns", chroot, "", 0, not_followed},
    // Attributes.
    StraceCall{"chmod", chmod, "pm"},
    StraceCall{"fchmod", fchmod, "fm"},
    StraceCall{"fchmodat", chmod, "dpm"},
    StraceCall{"fchmodat2", chmod, "dpmg", 0, mode_at},
    StraceCall{"chown", chown, "poO"},
    StraceCall{"lchown", chown, "poO", kNoFollow},
    StraceCall{"fchown", fchown, "foO"},
    StraceCall{"fchownat", chown, "dpoOg", 0, owner_at},
    StraceCall{"chown32", chown, "poO"},
    StraceCall{"lchown32", chown, "poO", kNoFollow},
    StraceCall{"fchown32", fchown, "foO"},
    StraceCall{"utime", utimens, "p-", 0, times_utime},
    StraceCall{"utimes", utimens, "p-", 0, times_utimes},
    StraceCall{"futimesat", utimens, "dp-", 0, times_futimesat},
    StraceCall{"utimensat", utimens, "dp-g", 0, times_utimensat},
    StraceCall{"utimensat_time64", utimens, "dp-g", 0, times_utimensat},
    StraceCall{"getxattr", getxattr, "pt-l"},
    StraceCall{"lgetxattr", getxattr, "pt-l", kNoFollow},
    StraceCall{"fgetxattr", getxattr, "ft-l"},
    StraceCall{"setxattr", setxattr, "pt-lg"},
    StraceCall{"lsetxattr", setxattr, "pt-lg", kNoFollow},
    StraceCall{"fsetxattr", setxattr, "ft-lg"},
    StraceCall{"listxattr", listxattr, "p-l"},
    StraceCall{"llistxattr", listxattr, "p-l", kNoFollow},
    StraceCall{"flistxattr", listxattr, "f-l"},
    StraceCall{"removexattr", removexattr, "pt"},
    StraceCall{"lremovexattr", removexattr, "pt", kNoFollow},
    StraceCall{"fremovexattr", removexattr, "ft"},
    StraceCall{"getxattrat", getxattr, "", 0, not_followed},
    StraceCall{"setxattrat", setxattr, "", 0, not_followed},
    StraceCall{"listxattrat", listxattr, "", 0, not_followed},
    StraceCall{"removexattrat", removexattr, "", 0, not_followed},
    // Memory.
    StraceCall{"mmap", mmap, "almgfo", 0, map},
    StraceCall{"mmap2", mmap, "almgfo", 0, map},
    StraceCall{"munmap", munmap, "al"},
    StraceCall{"mremap", mremap, "aolg"},
    StraceCall{"msync", msync, "alg"},
    StraceCall{"madvise", madvise, "alg"},
    // Descriptors and processes.
    StraceCall{"dup", dup, "f"},
    StraceCall{"dup2", dup, "fF"},
    StraceCall{"dup3", dup, "fFg"},
    StraceCall{"fork", fork, ""},
    StraceCall{"vfork", fork, "", CLONE_VM | CLONE_VFORK},
    StraceCall{"clone", fork, "", 0, clone},
    StraceCall{"clone3", fork, "", 0, clone3},
    StraceCall{"unshare", unshare, "", 0, unshared},
    StraceCall{"execve", exec, "p--"},
    StraceCall{"execveat", exec, "dp--g"},
    StraceCall{"exit", exit, ""},
    StraceCall{"exit_group", exit_group, ""},
    StraceCall{"wait4", wait, "", 0, waited},
    StraceCall{"waitpid", wait, "", 0, waited},
    StraceCall{"waitid", wait, "", 0, waited_id},
    // Descriptors that are no files, or may be none.
    StraceCall{"socket", new_descriptor, "-g-"},
    StraceCall{"accept", new_descriptor, ""},
    StraceCall{"accept4", new_descriptor, "---g"},
    StraceCall{"eventfd", new_descriptor, ""},
    StraceCall{"eventfd2", new_descriptor, "-g"},
    StraceCall{"epoll_create", new_descriptor, ""},
    StraceCall{"epoll_create1", new_descriptor, "g"},
    StraceCall{"timerfd_create", new_descriptor, "-g"},
    StraceCall{"signalfd", new_descriptor, "f", 0, changed_signals},
    StraceCall{"signalfd4", new_descriptor, "f--g", 0, changed_signals},
    StraceCall{"inotify_init", new_descriptor, ""},
    StraceCall{"inotify_init1", new_descriptor, "g"},
    StraceCall{"fanotify_init", new_descriptor, "", kCloexec},
    StraceCall{"memfd_create", new_descriptor, "", 0, memory_file},
    StraceCall{"memfd_secret", new_descriptor, "g"},
    StraceCall{"pidfd_open", new_descriptor, "", kCloexec},
    StraceCall{"pidfd_getfd", new_descriptor, "", kCloexec, descriptor_of_another},
    StraceCall{"io_uring_setup", new_descriptor, "", kCloexec, hidden_ring},
    StraceCall{"perf_event_open", new_descriptor, "", 0, performance},
    StraceCall{"userfaultfd", new_descriptor, "g"},
    StraceCall{"open_by_handle_at", new_descriptor, "--g", 0, by_handle},
    StraceCall{"mq_open", new_descriptor, "-g", kCloexec},
    StraceCall{"pipe", new_pair, "", 0, pair<0>},
    StraceCall{"pipe2", new_pair, "-g", 0, pair<0>},
    StraceCall{"socketpair", new_pair, "-g--", 0, pair<3>},
});
// clang-format on

}  // namespace

std::span<const StraceCall> strace_calls() {
  return kCalls;
}

const StraceCall* find_strace_call(std::string_view name) {
  return find_by_name(kCalls, name);
}

}  // namespace filereel
