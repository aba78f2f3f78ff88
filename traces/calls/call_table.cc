#include "traces/calls/call_table.h"

#include <cstddef>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/loop.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "traces/calls/call_arguments.h"
#include "traces/calls/known_calls.h"
#include "traces/calls/name_table.h"

namespace filereel {
namespace {

using enum Argument;
using enum Call;
using namespace call_finish;

// With further values of the member, such as its older name.
#define MEMBER(type, member, role, ...) \
  {#member, role, offsetof(type, member), sizeof(std::declval<type>().member), ##__VA_ARGS__}

// clang-format off
// In the order of their roles.
constexpr Structure kStructures[] = {
    {offset_pointer, 8, true, {{"", offset, 0, 8}}},
    {offset2_pointer, 8, true, {{"", offset2, 0, 8}}},
    {result_pointer, 8, true, {{"", result, 0, 8}}},
    {descriptor_pair, 8, true, {{"", descriptor, 0, 4}, {"", descriptor2, 4, 4}}},
    {how, 24, true,
     {MEMBER(struct ::open_how, flags, open_flags),
      MEMBER(struct ::open_how, mode, mode, "", true),
      MEMBER(struct ::open_how, resolve, resolve, "", true)}},
    {lock, 24, true,
     {MEMBER(struct ::flock, l_type, flags, "type"),
      MEMBER(struct ::flock, l_whence, offset2, "whence"),
      MEMBER(struct ::flock, l_start, offset, "start"),
      MEMBER(struct ::flock, l_len, length, "len")}},
    {source_range, 32, true,
     {MEMBER(file_clone_range, src_fd, descriptor2),
      MEMBER(file_clone_range, src_offset, offset),
      MEMBER(file_clone_range, src_length, length),
      MEMBER(file_clone_range, dest_offset, offset2)}},
    {loop_settings, 4, true, {{"fd", descriptor2, 0, 4}}},
    {status, 56, false,
     {MEMBER(struct ::stat, st_dev, seen_device),
      MEMBER(struct ::stat, st_ino, seen_inode),
      MEMBER(struct ::stat, st_mode, seen_mode),
      MEMBER(struct ::stat, st_size, seen_size)}},
    {status_x, 144, false,
     {MEMBER(struct ::statx, stx_mode, seen_mode),
      MEMBER(struct ::statx, stx_ino, seen_inode),
      MEMBER(struct ::statx, stx_size, seen_size),
      MEMBER(struct ::statx, stx_dev_major, seen_major),
      MEMBER(struct ::statx, stx_dev_minor, seen_minor)}},
    {ended_process, 32, false, {MEMBER(siginfo_t, si_pid, result)}},
    {clone_settings, 8, true, {{"flags", flags, 0, 8}}},
    {times_ns, 32, false},
    {times_us, 32, false},
    {times_s, 16, false},
};

constexpr auto kFcntl = std::to_array<CallCommand>({
    {F_DUPFD, dup},
    {F_DUPFD_CLOEXEC, dup, none, O_CLOEXEC},
    {F_SETFD, set_cloexec, flags},
    {F_SETFL, set_flags, open_flags},
    {F_SETLK, record_lock, lock},
    {F_SETLKW, record_lock, lock, 0, 1},
    {F_OFD_SETLK, record_lock, lock},
    {F_OFD_SETLKW, record_lock, lock, 0, 1},
});

constexpr std::uint64_t kMoveExtents = 0xc028660f;  // EXT4_IOC_MOVE_EXT, in no header

#define UNSUPPORTED(command) \
  {command, unsupported, none, 0, 0, "ioctl " #command}
constexpr auto kIoctl = std::to_array<CallCommand>({
    {FIOCLEX, set_cloexec, none, 1},
    {FIONCLEX, set_cloexec},
    {FICLONE, clone_range, descriptor2},
    {FICLONERANGE, clone_range, source_range},
    UNSUPPORTED(FIDEDUPERANGE), UNSUPPORTED(FS_IOC_SETFLAGS), UNSUPPORTED(FS_IOC_FSSETXATTR),
    UNSUPPORTED(FIFREEZE), UNSUPPORTED(FITHAW), UNSUPPORTED(FITRIM),
    UNSUPPORTED(FS_IOC_SETVERSION), UNSUPPORTED(FS_IOC_SETFSLABEL),
    UNSUPPORTED(FS_IOC_ENABLE_VERITY), UNSUPPORTED(FS_IOC_SET_ENCRYPTION_POLICY),
    UNSUPPORTED(FS_IOC_ADD_ENCRYPTION_KEY), UNSUPPORTED(FS_IOC_REMOVE_ENCRYPTION_KEY),
    UNSUPPORTED(BTRFS_IOC_SNAP_CREATE), UNSUPPORTED(BTRFS_IOC_SNAP_CREATE_V2),
    UNSUPPORTED(BTRFS_IOC_SUBVOL_CREATE), UNSUPPORTED(BTRFS_IOC_SUBVOL_CREATE_V2),
    UNSUPPORTED(BTRFS_IOC_SNAP_DESTROY), UNSUPPORTED(BTRFS_IOC_SNAP_DESTROY_V2),
    UNSUPPORTED(BTRFS_IOC_DEFRAG), UNSUPPORTED(BTRFS_IOC_DEFRAG_RANGE),
    {kMoveExtents, unsupported, none, 0, 0, "ioctl EXT4_IOC_MOVE_EXT"},
    // The kernel changes the file of a loop device.
    {LOOP_SET_FD, unsupported, descriptor2, 0, 0, "ioctl LOOP_SET_FD"},
    {LOOP_CHANGE_FD, unsupported, descriptor2, 0, 0, "ioctl LOOP_CHANGE_FD"},
    {LOOP_CONFIGURE, unsupported, loop_settings, 0, 0, "ioctl LOOP_CONFIGURE"},
});
#undef UNSUPPORTED

// They change files, names or descriptors in a way that operations cannot represent. With
// descriptors, only those of files count.
constexpr CallRow not_followed(std::string_view name, std::array<Argument, 6> arguments = {}) {
  return {.name = name, .call = unsupported, .arguments = arguments};
}

constexpr std::uint64_t kCreat = O_CREAT | O_WRONLY | O_TRUNC;
constexpr std::uint64_t kCloexec = O_CLOEXEC;
constexpr std::uint64_t kNoFollow = AT_SYMLINK_NOFOLLOW;

constexpr auto kCalls = sorted_by_name(std::to_array<CallRow>({
    // Opening and closing.
    {"open", open, {path, open_flags, mode}},
    {"openat", open, {directory, path, open_flags, mode}},
    {"openat2", open, {directory, path, how}},
    {"open_by_handle_at", new_descriptor, {none, none, open_flags}, 0, file_by_handle},
    {"creat", open, {path, mode}, kCreat},
    {"close", close, {descriptor}},
    {"close_range", close_range, {first, last, flags}},
    // Data.
    {"read", read, {descriptor, none, length}},
    {"pread", read, {descriptor, none, length, offset}},
    {"pread64", read, {descriptor, none, length, offset}},
    {"readv", read, {descriptor, buffers}},
    {"preadv", read, {descriptor, buffers, none, offset}},
    {"preadv2", read, {descriptor, buffers, none, offset, unshown, flags}, 0, at_own_position},
    {"write", write, {descriptor, data, length}},
    {"pwrite", write, {descriptor, data, length, offset}},
    {"pwrite64", write, {descriptor, data, length, offset}},
    {"writev", write, {descriptor, buffers}},
    {"pwritev", write, {descriptor, buffers, none, offset}},
    {"pwritev2", write, {descriptor, buffers, none, offset, unshown, flags}, 0, at_own_position},
    {"lseek", seek, {descriptor, offset, flags}},
    {"_llseek", seek, {descriptor, unshown, offset, result_pointer, flags}},
    {"copy_file_range", copy_file_range,
     {descriptor, offset_pointer, descriptor2, offset2_pointer, length, flags}},
    {"sendfile", sendfile, {descriptor2, descriptor, offset_pointer, length}},
    {"sendfile64", sendfile, {descriptor2, descriptor, offset_pointer, length}},
    {"splice", splice,
     {descriptor, offset_pointer, descriptor2, offset2_pointer, length, flags}},
    not_followed("vmsplice", {descriptor}),
    not_followed("tee", {descriptor, descriptor2}),
    {"ioctl", clone_range, {descriptor, command, commanded}, 0, clone_command, kIoctl,
     is_harmless_ioctl},
    {"io_submit", submit, {address}},
    {"io_getevents", complete, {address}},
    {"io_pgetevents", complete, {address}},
    {"io_pgetevents_time64", complete, {address}},
    not_followed("io_cancel"),
    // Sizes, durability, advice, locks.
    {"truncate", truncate, {path, offset}},
    {"truncate64", truncate, {path, offset}},
    {"ftruncate", ftruncate, {descriptor, offset}},
    {"ftruncate64", ftruncate, {descriptor, offset}},
    {"fallocate", fallocate, {descriptor, flags, offset, length}},
    {"fsync", fsync, {descriptor}},
    {"fdatasync", fdatasync, {descriptor}},
    {"sync_file_range", sync_file_range, {descriptor, offset, length, flags}},
    {"sync_file_range2", sync_file_range, {descriptor, flags, offset, length}},
    {"syncfs", syncfs, {descriptor}},
    {"sync", sync},
    {"fadvise64", fadvise, {descriptor, offset, length, flags}},
    {"fadvise64_64", fadvise, {descriptor, offset, length, flags}},
    {"readahead", readahead, {descriptor, offset, length}},
    {"flock", flock, {descriptor, flags}},
    {"fcntl", record_lock, {descriptor, command, commanded}, 0, descriptor_command, kFcntl,
     is_harmless_fcntl},
    {"fcntl64", record_lock, {descriptor, command, commanded}, 0, descriptor_command, kFcntl,
     is_harmless_fcntl},
    // File status.
    {"stat", stat, {path, status}},
    {"stat64", stat, {path, status}},
    {"lstat", stat, {path, status}, kNoFollow},
    {"lstat64", stat, {path, status}, kNoFollow},
    {"fstat", fstat, {descriptor, status}},
    {"fstat64", fstat, {descriptor, status}},
    {"newfstatat", stat, {directory, path, status, flags}, 0, by_descriptor},
    {"fstatat64", stat, {directory, path, status, flags}, 0, by_descriptor},
    {"statx", stat, {directory, path, flags, none, status_x}, 0, by_descriptor},
    {"statfs", statfs, {path}},
    {"statfs64", statfs, {path}},
    {"fstatfs", fstatfs, {descriptor}},
    {"fstatfs64", fstatfs, {descriptor}},
    {"access", access, {path, mode}},
    {"faccessat", access, {directory, path, mode}},
    {"faccessat2", access, {directory, path, mode, flags}},
    {"readlink", readlink, {path, link_text, length}},
    {"readlinkat", readlink, {directory, path, link_text, length}},
    {"getdents", getdents, {descriptor, entries, length}},
    {"getdents64", getdents, {descriptor, entries, length}},
    // Names.
    {"mkdir", mkdir, {path, mode}},
    {"mkdirat", mkdir, {directory, path, mode}},
    {"rmdir", rmdir, {path}},
    {"unlink", unlink, {path}},
    {"unlinkat", unlink, {directory, path, flags}, 0, file_or_directory},
    {"rename", rename, {path, path2}},
    {"renameat", rename, {directory, path, directory2, path2}},
    {"renameat2", rename, {directory, path, directory2, path2, flags}},
    {"link", link, {path, path2}},
    {"linkat", link, {directory, path, directory2, path2, flags}},
    {"symlink", symlink, {text, path}},
    {"symlinkat", symlink, {text, directory, path}},
    {"mknod", mknod, {path, mode}},
    {"mknodat", mknod, {directory, path, mode}},
    {"bind", mknod, {none, socket_name, length}, 0, named_socket},
    {"chdir", chdir, {path}},
    {"fchdir", fchdir, {descriptor}},
    {"chroot", chroot, {path}},
    {"umask", umask, {mode}},
    not_followed("mount"),
    not_followed("move_mount"),
    not_followed("umount"),
    not_followed("umount2"),
    not_followed("pivot_root"),
    not_followed("setns"),
    not_followed("mount_setattr"),
    {"open_tree", open, {directory, path, flags}, 0, place_in_tree},
    {"open_tree_attr", unsupported_open},
    {"fsmount", unsupported_open},
    not_followed("acct"),
    not_followed("swapon"),
    not_followed("swapoff"),
    not_followed("quotactl"),
    not_followed("quotactl_fd"),
    not_followed("nfsservctl"),
    not_followed("uselib"),
    // Without a variant here.
    not_followed("oldstat", {path}),
    not_followed("oldlstat", {path}),
    not_followed("oldfstat", {descriptor}),
    not_followed("readdir", {descriptor}),
    // Attributes.
    {"chmod", chmod, {path, mode}},
    {"fchmod", fchmod, {descriptor, mode}},
    {"fchmodat", chmod, {directory, path, mode}},
    {"fchmodat2", chmod, {directory, path, mode, flags}, 0, by_descriptor},
    {"chown", chown, {path, offset, offset2}},
    {"lchown", chown, {path, offset, offset2}, kNoFollow},
    {"fchown", fchown, {descriptor, offset, offset2}},
    {"fchownat", chown, {directory, path, offset, offset2, flags}, 0, by_descriptor},
    {"chown32", chown, {path, offset, offset2}},
    {"lchown32", chown, {path, offset, offset2}, kNoFollow},
    {"fchown32", fchown, {descriptor, offset, offset2}},
    {"utime", utimens, {path, times_s}},
    {"utimes", utimens, {path, times_us}},
    {"futimesat", utimens, {directory, path, times_us}, 0, by_descriptor},
    {"utimensat", utimens, {directory, path, times_ns, flags}, 0, by_descriptor},
    {"utimensat_time64", utimens, {directory, path, times_ns, flags}, 0, by_descriptor},
    {"getxattr", getxattr, {path, text, none, length}},
    {"lgetxattr", getxattr, {path, text, none, length}, kNoFollow},
    {"fgetxattr", getxattr, {descriptor, text, none, length}},
    {"setxattr", setxattr, {path, text, value, length, flags}},
    {"lsetxattr", setxattr, {path, text, value, length, flags}, kNoFollow},
    {"fsetxattr", setxattr, {descriptor, text, value, length, flags}},
    {"listxattr", listxattr, {path, none, length}},
    {"llistxattr", listxattr, {path, none, length}, kNoFollow},
    {"flistxattr", listxattr, {descriptor, none, length}},
    {"removexattr", removexattr, {path, text}},
    {"lremovexattr", removexattr, {path, text}, kNoFollow},
    {"fremovexattr", removexattr, {descriptor, text}},
    not_followed("getxattrat"),
    not_followed("setxattrat"),
    not_followed("listxattrat"),
    not_followed("removexattrat"),
    not_followed("file_setattr"),
    // Memory.
    {"mmap", mmap, {address, length, mode, flags, descriptor, offset}, 0, file_or_memory},
    {"mmap2", mmap, {address, length, mode, flags, descriptor, offset}, 0, file_or_memory},
    {"munmap", munmap, {address, length}},
    {"mremap", mremap, {address, offset, length, flags}},
    {"msync", msync, {address, length, flags}},
    not_followed("remap_file_pages"),
    {"madvise", madvise, {address, length, flags}},
    // Descriptors and processes.
    {"dup", dup, {descriptor}},
    {"dup2", dup, {descriptor, descriptor2}},
    {"dup3", dup, {descriptor, descriptor2, flags}},
    {"fork", fork},
    {"vfork", fork, {}, CLONE_VM | CLONE_VFORK},
    {"clone", fork, {none, flags}},  // argument order as shown by strace
    {"clone3", fork, {clone_settings}},
    {"unshare", unshare, {flags}},
    {"execve", exec, {path}},
    {"execveat", exec, {directory, path, none, none, flags}, 0, really_executed},
    {"exit", exit},
    {"exit_group", exit_group},
    {"wait4", wait, {none, none, flags}, 0, ended_child},
    {"waitpid", wait, {none, none, flags}, 0, ended_child},
    {"waitid", wait, {none, none, ended_process, flags}, 0, ended_child},
    // Descriptors that are not files, or may not be.
    {"socket", new_descriptor, {none, flags}},
    {"accept", new_descriptor},
    {"accept4", new_descriptor, {none, none, none, flags}},
    {"eventfd", new_descriptor},
    {"eventfd2", new_descriptor, {none, flags}},
    {"epoll_create", new_descriptor},
    {"epoll_create1", new_descriptor, {flags}},
    {"timerfd_create", new_descriptor, {none, flags}},
    {"signalfd", new_descriptor, {descriptor}, 0, new_or_changed},
    {"signalfd4", new_descriptor, {descriptor, none, none, flags}, 0, new_or_changed},
    {"inotify_init", new_descriptor},
    {"inotify_init1", new_descriptor, {flags}},
    {"fanotify_init", new_descriptor, {}, kCloexec},
    {"memfd_create", new_descriptor, {none, flags}, 0, memory_file},
    {"memfd_secret", new_descriptor, {flags}},
    {"fsopen", new_descriptor, {}, kCloexec},
    {"fspick", new_descriptor, {}, kCloexec},
    {"landlock_create_ruleset", new_descriptor, {}, kCloexec},
    {"pidfd_open", new_descriptor, {}, kCloexec},
    {"pidfd_getfd", new_descriptor, {}, kCloexec},
    {"io_uring_setup", new_descriptor, {}, kCloexec},
    {"perf_event_open", new_descriptor, {none, none, none, none, flags}, 0, performance_counter},
    {"userfaultfd", new_descriptor, {flags}},
    {"mq_open", new_descriptor, {none, flags}, kCloexec},
    {"pipe", new_pair, {descriptor_pair}, 0, two_ends},
    {"pipe2", new_pair, {descriptor_pair, flags}, 0, two_ends},
    {"socketpair", new_pair, {none, flags, none, descriptor_pair}, 0, two_ends},
}));
// clang-format on
#undef MEMBER

constexpr std::size_t number_of(Argument role) {
  return static_cast<std::size_t>(role) - static_cast<std::size_t>(offset_pointer);
}

static_assert([] {
  for (std::size_t i = 0; i < std::size(kStructures); ++i) {
    if (number_of(kStructures[i].role) != i) return false;
  }
  return std::size(kStructures) == number_of(result);
}());

}  // namespace

const Structure* structure_of(Argument role) {
  return role >= offset_pointer && role < result ? &kStructures[number_of(role)] : nullptr;
}

std::span<const CallRow> call_rows() {
  return kCalls;
}

const CallRow* find_call(std::string_view name) {
  return find_by_name(kCalls, name);
}

}  // namespace filereel
