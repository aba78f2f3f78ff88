#include <array>

#include <asm/unistd_32.h>

#include "traces/record/bpf/compat_calls.h"

namespace filereel {
namespace {

#define NUMBERED(name) \
  CompatCall {         \
    __NR_##name, #name \
  }

// Newer than some headers.
constexpr std::uint32_t kFchmodat2 = 452, kSetxattrat = 463, kGetxattrat = 464, kListxattrat = 465,
                        kRemovexattrat = 466;

// clang-format off
constexpr auto kCalls = std::to_array<CompatCall>({
    NUMBERED(open), NUMBERED(openat), NUMBERED(creat), NUMBERED(openat2),
    NUMBERED(open_by_handle_at), NUMBERED(close),
    NUMBERED(read), NUMBERED(pread64), NUMBERED(readv), NUMBERED(preadv), NUMBERED(preadv2),
    NUMBERED(write), NUMBERED(pwrite64), NUMBERED(writev), NUMBERED(pwritev), NUMBERED(pwritev2),
    NUMBERED(lseek), NUMBERED(_llseek), NUMBERED(copy_file_range), NUMBERED(splice),
    NUMBERED(sendfile), NUMBERED(sendfile64), NUMBERED(ioctl), NUMBERED(io_submit),
    NUMBERED(truncate), NUMBERED(truncate64), NUMBERED(ftruncate), NUMBERED(ftruncate64),
    NUMBERED(fallocate), NUMBERED(fsync), NUMBERED(fdatasync), NUMBERED(sync_file_range),
    NUMBERED(syncfs), NUMBERED(sync), NUMBERED(fadvise64), NUMBERED(fadvise64_64),
    NUMBERED(readahead), NUMBERED(flock), NUMBERED(fcntl), NUMBERED(fcntl64),
    NUMBERED(stat), NUMBERED(lstat), NUMBERED(fstat),
    NUMBERED(stat64), NUMBERED(lstat64), NUMBERED(fstat64), NUMBERED(fstatat64), NUMBERED(statx),
    NUMBERED(statfs), NUMBERED(fstatfs), NUMBERED(statfs64), NUMBERED(fstatfs64),
    NUMBERED(access), NUMBERED(faccessat), NUMBERED(faccessat2),
    NUMBERED(readlink), NUMBERED(readlinkat), NUMBERED(getdents), NUMBERED(getdents64),
    NUMBERED(mkdir), NUMBERED(mkdirat), NUMBERED(rmdir), NUMBERED(unlink), NUMBERED(unlinkat),
    NUMBERED(rename), NUMBERED(renameat), NUMBERED(renameat2), NUMBERED(link), NUMBERED(linkat),
    NUMBERED(symlink), NUMBERED(symlinkat), NUMBERED(mknod), NUMBERED(mknodat),
    NUMBERED(chdir), NUMBERED(fchdir), NUMBERED(chroot),
    NUMBERED(mount), NUMBERED(move_mount), NUMBERED(umount), NUMBERED(umount2),
    NUMBERED(pivot_root), NUMBERED(setns),
    NUMBERED(chmod), NUMBERED(fchmod), NUMBERED(fchmodat), {kFchmodat2, "fchmodat2"},
    NUMBERED(chown), NUMBERED(lchown), NUMBERED(fchown), NUMBERED(fchownat),
    NUMBERED(chown32), NUMBERED(lchown32), NUMBERED(fchown32),
    NUMBERED(utime), NUMBERED(utimes), NUMBERED(futimesat), NUMBERED(utimensat),
    NUMBERED(utimensat_time64),
    NUMBERED(getxattr), NUMBERED(lgetxattr), NUMBERED(fgetxattr),
    NUMBERED(setxattr), NUMBERED(lsetxattr), NUMBERED(fsetxattr),
    NUMBERED(listxattr), NUMBERED(llistxattr), NUMBERED(flistxattr),
    NUMBERED(removexattr), NUMBERED(lremovexattr), NUMBERED(fremovexattr),
    {kSetxattrat, "setxattrat"}, {kGetxattrat, "getxattrat"}, {kListxattrat, "listxattrat"},
    {kRemovexattrat, "removexattrat"},
    NUMBERED(mmap2), NUMBERED(msync),
    NUMBERED(dup), NUMBERED(dup2), NUMBERED(dup3),
});
// clang-format on

}  // namespace

std::span<const CompatCall> compat_calls() {
  return kCalls;
}

}  // namespace filereel
