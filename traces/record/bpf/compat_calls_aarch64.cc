#include <array>

#include "traces/record/bpf/compat_calls.h"

namespace filereel {
namespace {

// Of arm (EABI): arch/arm/tools/syscall.tbl. The headers of arm64 do not have these numbers.
// clang-format off
constexpr auto kCalls = std::to_array<CompatCall>({
    {5, "open"}, {322, "openat"}, {8, "creat"}, {437, "openat2"}, {371, "open_by_handle_at"},
    {6, "close"}, {3, "read"}, {180, "pread64"}, {145, "readv"}, {361, "preadv"}, {392, "preadv2"},
    {4, "write"}, {181, "pwrite64"}, {146, "writev"}, {362, "pwritev"}, {393, "pwritev2"},
    {19, "lseek"}, {140, "_llseek"}, {391, "copy_file_range"}, {340, "splice"}, {187, "sendfile"},
    {239, "sendfile64"}, {54, "ioctl"}, {246, "io_submit"}, {92, "truncate"}, {193, "truncate64"},
    {93, "ftruncate"}, {194, "ftruncate64"}, {352, "fallocate"}, {118, "fsync"}, {148, "fdatasync"},
    {341, "sync_file_range2"}, {373, "syncfs"}, {36, "sync"}, {270, "fadvise64_64"},
    {225, "readahead"}, {143, "flock"}, {55, "fcntl"}, {221, "fcntl64"}, {106, "stat"},
    {107, "lstat"}, {108, "fstat"}, {195, "stat64"}, {196, "lstat64"}, {197, "fstat64"},
    {327, "fstatat64"}, {397, "statx"}, {99, "statfs"}, {100, "fstatfs"}, {266, "statfs64"},
    {267, "fstatfs64"}, {33, "access"}, {334, "faccessat"}, {439, "faccessat2"}, {85, "readlink"},
    {332, "readlinkat"}, {141, "getdents"}, {217, "getdents64"}, {39, "mkdir"}, {323, "mkdirat"},
    {40, "rmdir"}, {10, "unlink"}, {328, "unlinkat"}, {38, "rename"}, {329, "renameat"},
    {382, "renameat2"}, {9, "link"}, {330, "linkat"}, {83, "symlink"}, {331, "symlinkat"},
    {14, "mknod"}, {324, "mknodat"}, {12, "chdir"}, {133, "fchdir"}, {61, "chroot"}, {21, "mount"},
    {429, "move_mount"}, {52, "umount2"}, {218, "pivot_root"}, {375, "setns"}, {15, "chmod"},
    {94, "fchmod"}, {333, "fchmodat"}, {452, "fchmodat2"}, {182, "chown"}, {16, "lchown"},
    {95, "fchown"}, {325, "fchownat"}, {212, "chown32"}, {198, "lchown32"}, {207, "fchown32"},
    {269, "utimes"}, {326, "futimesat"}, {348, "utimensat"}, {412, "utimensat_time64"},
    {229, "getxattr"}, {230, "lgetxattr"}, {231, "fgetxattr"}, {226, "setxattr"},
    {227, "lsetxattr"}, {228, "fsetxattr"}, {232, "listxattr"}, {233, "llistxattr"},
    {234, "flistxattr"}, {235, "removexattr"}, {236, "lremovexattr"}, {237, "fremovexattr"},
    {463, "setxattrat"}, {464, "getxattrat"}, {465, "listxattrat"}, {466, "removexattrat"},
    {192, "mmap2"}, {144, "msync"}, {41, "dup"}, {63, "dup2"}, {358, "dup3"},
});
// clang-format on

}  // namespace

std::span<const CompatCall> compat_calls() {
  return kCalls;
}

}  // namespace filereel
