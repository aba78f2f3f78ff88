#include "traces/import/strace_constants.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/btrfs.h>
#include <linux/close_range.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "traces/calls/known_calls.h"
#include "traces/calls/name_table.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

struct Named {
  std::string_view name;
  std::uint64_t value;
};

#define NAMED(name)                         \
  Named {                                   \
    #name, static_cast<std::uint64_t>(name) \
  }

// clang-format off
constexpr auto kConstants = sorted_by_name(std::to_array<Named>({
    // Access modes and flags of open, descriptors.
    NAMED(O_RDONLY),
    NAMED(O_WRONLY),
    NAMED(O_RDWR),
    NAMED(O_ACCMODE),
    NAMED(O_CREAT),
    NAMED(O_EXCL),
    NAMED(O_NOCTTY),
    NAMED(O_TRUNC),
    NAMED(O_APPEND),
    NAMED(O_NONBLOCK),
    NAMED(O_NDELAY),
    NAMED(O_DSYNC),
    NAMED(O_ASYNC),
    NAMED(O_NOATIME),
    NAMED(O_CLOEXEC),
    NAMED(O_SYNC),
    NAMED(O_RSYNC),
    NAMED(O_PATH),
    NAMED(FD_CLOEXEC),
    NAMED(CLOSE_RANGE_UNSHARE),
    NAMED(CLOSE_RANGE_CLOEXEC),
    NAMED(SOCK_CLOEXEC),
    NAMED(EFD_CLOEXEC),
    NAMED(EPOLL_CLOEXEC),
    NAMED(TFD_CLOEXEC),
    NAMED(SFD_CLOEXEC),
    NAMED(IN_CLOEXEC),
    NAMED(MFD_CLOEXEC),
    NAMED(PERF_FLAG_FD_CLOEXEC),
    NAMED(FAN_CLOEXEC),
    // Paths.
    NAMED(AT_FDCWD),
    NAMED(AT_SYMLINK_NOFOLLOW),
    NAMED(AT_REMOVEDIR),
    NAMED(AT_SYMLINK_FOLLOW),
    NAMED(AT_NO_AUTOMOUNT),
    NAMED(AT_EMPTY_PATH),
    NAMED(AT_EACCESS),
    NAMED(AT_STATX_SYNC_AS_STAT),
    NAMED(AT_STATX_FORCE_SYNC),
    NAMED(AT_STATX_DONT_SYNC),
    NAMED(AT_RECURSIVE),
    Named{"OPEN_TREE_CLONE", 1},
    Named{"OPEN_TREE_CLOEXEC", O_CLOEXEC},
    Named{"AT_EXECVE_CHECK", call_flags::kExecCheck},
    NAMED(RENAME_NOREPLACE),
    NAMED(RENAME_EXCHANGE),
    NAMED(RENAME_WHITEOUT),
    NAMED(R_OK),
    NAMED(W_OK),
    NAMED(X_OK),
    NAMED(F_OK),
    NAMED(XATTR_CREATE),
    NAMED(XATTR_REPLACE),
    NAMED(UTIME_NOW),
    NAMED(UTIME_OMIT),
    // File types and modes.
    NAMED(S_IFMT),
    NAMED(S_IFSOCK),
    NAMED(S_IFLNK),
    NAMED(S_IFREG),
    NAMED(S_IFBLK),
    NAMED(S_IFDIR),
    NAMED(S_IFCHR),
    NAMED(S_IFIFO),
    NAMED(S_ISUID),
    NAMED(S_ISGID),
    NAMED(S_ISVTX),
    NAMED(S_IRUSR),
    NAMED(S_IWUSR),
    NAMED(S_IXUSR),
    NAMED(S_IRGRP),
    NAMED(S_IWGRP),
    NAMED(S_IXGRP),
    NAMED(S_IROTH),
    NAMED(S_IWOTH),
    NAMED(S_IXOTH),
    NAMED(S_IRWXU),
    NAMED(S_IRWXG),
    NAMED(S_IRWXO),
    // Positions and ranges.
    NAMED(SEEK_SET),
    NAMED(SEEK_CUR),
    NAMED(SEEK_END),
    NAMED(SEEK_DATA),
    NAMED(SEEK_HOLE),
    NAMED(FALLOC_FL_KEEP_SIZE),
    NAMED(FALLOC_FL_PUNCH_HOLE),
    NAMED(FALLOC_FL_NO_HIDE_STALE),
    NAMED(FALLOC_FL_COLLAPSE_RANGE),
    NAMED(FALLOC_FL_ZERO_RANGE),
    NAMED(FALLOC_FL_INSERT_RANGE),
    NAMED(FALLOC_FL_UNSHARE_RANGE),
    Named{"FALLOC_FL_WRITE_ZEROES", 0x80},
    NAMED(POSIX_FADV_NORMAL),
    NAMED(POSIX_FADV_RANDOM),
    NAMED(POSIX_FADV_SEQUENTIAL),
    NAMED(POSIX_FADV_WILLNEED),
    NAMED(POSIX_FADV_DONTNEED),
    NAMED(POSIX_FADV_NOREUSE),
    NAMED(SYNC_FILE_RANGE_WAIT_BEFORE),
    NAMED(SYNC_FILE_RANGE_WRITE),
    NAMED(SYNC_FILE_RANGE_WAIT_AFTER),
    NAMED(RESOLVE_NO_XDEV),
    NAMED(RESOLVE_NO_MAGICLINKS),
    NAMED(RESOLVE_NO_SYMLINKS),
    NAMED(RESOLVE_BENEATH),
    NAMED(RESOLVE_IN_ROOT),
    NAMED(RESOLVE_CACHED),
    NAMED(RWF_HIPRI),
    NAMED(RWF_DSYNC),
    NAMED(RWF_SYNC),
    NAMED(RWF_NOWAIT),
    NAMED(RWF_APPEND),
    Named{"RWF_NOAPPEND", call_flags::kNoAppend},
    Named{"RWF_ATOMIC", call_flags::kAtomic},
    Named{"RWF_DONTCACHE", call_flags::kDontCache},
    Named{"RWF_NOSIGNAL", call_flags::kNoSignal},
    NAMED(SPLICE_F_MOVE),
    NAMED(SPLICE_F_NONBLOCK),
    NAMED(SPLICE_F_MORE),
    NAMED(SPLICE_F_GIFT),
    // Locks and fcntl.
    NAMED(LOCK_SH),
    NAMED(LOCK_EX),
    NAMED(LOCK_NB),
    NAMED(LOCK_UN),
    NAMED(F_DUPFD),
    NAMED(F_DUPFD_CLOEXEC),
    NAMED(F_GETFD),
    NAMED(F_SETFD),
    NAMED(F_GETFL),
    NAMED(F_SETFL),
    NAMED(F_GETLK),
    NAMED(F_SETLK),
    NAMED(F_SETLKW),
    NAMED(F_GETLK64),  // for 32-bit programs
    NAMED(F_SETLK64),
    NAMED(F_SETLKW64),
    NAMED(F_OFD_GETLK),
    NAMED(F_OFD_SETLK),
    NAMED(F_OFD_SETLKW),
    NAMED(F_SETOWN),
    NAMED(F_GETOWN),
    NAMED(F_SETSIG),
    NAMED(F_GETSIG),
    NAMED(F_SETOWN_EX),
    NAMED(F_GETOWN_EX),
    NAMED(F_SETLEASE),
    NAMED(F_GETLEASE),
    NAMED(F_NOTIFY),
    NAMED(F_SETPIPE_SZ),
    NAMED(F_GETPIPE_SZ),
    NAMED(F_ADD_SEALS),
    NAMED(F_GET_SEALS),
    NAMED(F_GET_RW_HINT),
    NAMED(F_SET_RW_HINT),
    NAMED(F_GET_FILE_RW_HINT),
    NAMED(F_SET_FILE_RW_HINT),
    Named{"F_GETOWNER_UIDS", 17},
    Named{"F_CANCELLK", 1029},
    Named{"F_DUPFD_QUERY", 1027},
    Named{"F_CREATED_QUERY", 1028},
    NAMED(F_RDLCK),
    NAMED(F_WRLCK),
    NAMED(F_UNLCK),
    // Memory.
    NAMED(PROT_NONE),
    NAMED(PROT_READ),
    NAMED(PROT_WRITE),
    NAMED(PROT_EXEC),
    NAMED(PROT_GROWSDOWN),
    NAMED(PROT_GROWSUP),
    NAMED(MAP_FILE),
    NAMED(MAP_SHARED),
    NAMED(MAP_PRIVATE),
    NAMED(MAP_SHARED_VALIDATE),
    NAMED(MAP_FIXED),
    NAMED(MAP_ANONYMOUS),
    NAMED(MAP_GROWSDOWN),
    NAMED(MAP_DENYWRITE),
    NAMED(MAP_EXECUTABLE),
    NAMED(MAP_LOCKED),
    NAMED(MAP_NORESERVE),
    NAMED(MAP_POPULATE),
    NAMED(MAP_NONBLOCK),
    NAMED(MAP_STACK),
    NAMED(MAP_HUGETLB),
    NAMED(MAP_SYNC),
    NAMED(MAP_FIXED_NOREPLACE),
    NAMED(MREMAP_MAYMOVE),
    NAMED(MREMAP_FIXED),
    NAMED(MREMAP_DONTUNMAP),
    NAMED(MS_ASYNC),
    NAMED(MS_INVALIDATE),
    NAMED(MS_SYNC),
    NAMED(MADV_NORMAL),
    NAMED(MADV_RANDOM),
    NAMED(MADV_SEQUENTIAL),
    NAMED(MADV_WILLNEED),
    NAMED(MADV_DONTNEED),
    NAMED(MADV_FREE),
    NAMED(MADV_REMOVE),
    NAMED(MADV_DONTFORK),
    NAMED(MADV_DOFORK),
    NAMED(MADV_MERGEABLE),
    NAMED(MADV_UNMERGEABLE),
    NAMED(MADV_HUGEPAGE),
    NAMED(MADV_NOHUGEPAGE),
    NAMED(MADV_DONTDUMP),
    NAMED(MADV_DODUMP),
    NAMED(MADV_WIPEONFORK),
    NAMED(MADV_KEEPONFORK),
    NAMED(MADV_COLD),
    NAMED(MADV_PAGEOUT),
    NAMED(MADV_POPULATE_READ),
    NAMED(MADV_POPULATE_WRITE),
    Named{"MADV_DONTNEED_LOCKED", 24},
    Named{"MADV_COLLAPSE", 25},
    Named{"MADV_HWPOISON", 100},
    Named{"MADV_SOFT_OFFLINE", 101},
    Named{"MADV_GUARD_INSTALL", 102},
    Named{"MADV_GUARD_REMOVE", 103},
    // Processes.
    NAMED(CLONE_VM),
    NAMED(CLONE_FS),
    NAMED(CLONE_FILES),
    NAMED(CLONE_SIGHAND),
    NAMED(CLONE_PIDFD),
    NAMED(CLONE_PTRACE),
    NAMED(CLONE_VFORK),
    NAMED(CLONE_PARENT),
    NAMED(CLONE_THREAD),
    NAMED(CLONE_NEWNS),
    NAMED(CLONE_SYSVSEM),
    NAMED(CLONE_SETTLS),
    NAMED(CLONE_PARENT_SETTID),
    NAMED(CLONE_CHILD_CLEARTID),
    NAMED(CLONE_DETACHED),
    NAMED(CLONE_UNTRACED),
    NAMED(CLONE_CHILD_SETTID),
    NAMED(CLONE_NEWCGROUP),
    NAMED(CLONE_NEWUTS),
    NAMED(CLONE_NEWIPC),
    NAMED(CLONE_NEWUSER),
    NAMED(CLONE_NEWPID),
    NAMED(CLONE_NEWNET),
    NAMED(CLONE_IO),
    Named{"CLONE_NEWTIME", 0x80},
    Named{"CLONE_CLEAR_SIGHAND", 1ULL << 32},
    Named{"CLONE_INTO_CGROUP", 1ULL << 33},
    NAMED(SIGCHLD),
    NAMED(WNOHANG),
    NAMED(WNOWAIT),
    NAMED(WEXITED),
    NAMED(WSTOPPED),
    NAMED(WUNTRACED),
    NAMED(WCONTINUED),
    NAMED(__WALL),
    NAMED(__WCLONE),
    NAMED(__WNOTHREAD),
    // ioctl.
    NAMED(FICLONE),
    NAMED(FICLONERANGE),
    NAMED(FIOCLEX),
    NAMED(FIONCLEX),
    NAMED(FIDEDUPERANGE),
    NAMED(FS_IOC_SETFLAGS),
    NAMED(FS_IOC_FSSETXATTR),
    NAMED(FIFREEZE),
    NAMED(FITHAW),
    NAMED(FITRIM),
    NAMED(FS_IOC_SETVERSION),
    NAMED(FS_IOC_SETFSLABEL),
    NAMED(FS_IOC_ENABLE_VERITY),
    NAMED(FS_IOC_SET_ENCRYPTION_POLICY),
    NAMED(FS_IOC_ADD_ENCRYPTION_KEY),
    NAMED(FS_IOC_REMOVE_ENCRYPTION_KEY),
    NAMED(BTRFS_IOC_SNAP_CREATE),
    NAMED(BTRFS_IOC_SNAP_CREATE_V2),
    NAMED(BTRFS_IOC_SUBVOL_CREATE),
    NAMED(BTRFS_IOC_SUBVOL_CREATE_V2),
    NAMED(BTRFS_IOC_SNAP_DESTROY),
    NAMED(BTRFS_IOC_SNAP_DESTROY_V2),
    NAMED(BTRFS_IOC_DEFRAG),
    NAMED(BTRFS_IOC_DEFRAG_RANGE),
    NAMED(BTRFS_IOC_CLONE),
    NAMED(BTRFS_IOC_CLONE_RANGE),
    NAMED(BTRFS_IOC_FILE_EXTENT_SAME),
    NAMED(BTRFS_IOC_TREE_SEARCH),
    NAMED(BTRFS_IOC_TREE_SEARCH_V2),
    NAMED(BTRFS_IOC_INO_LOOKUP),
    NAMED(BTRFS_IOC_FS_INFO),
    NAMED(BTRFS_IOC_DEV_INFO),
    NAMED(BTRFS_IOC_SPACE_INFO),
    NAMED(BTRFS_IOC_INO_PATHS),
    NAMED(BTRFS_IOC_LOGICAL_INO),
    NAMED(BTRFS_IOC_GET_FEATURES),
    NAMED(BTRFS_IOC_SUBVOL_GETFLAGS),
    NAMED(BTRFS_IOC_GET_SUBVOL_INFO),
    NAMED(BTRFS_IOC_SYNC),
    NAMED(BTRFS_IOC_START_SYNC),
    NAMED(BTRFS_IOC_WAIT_SYNC),
    NAMED(FS_IOC_GETFLAGS),
    NAMED(FS_IOC_FSGETXATTR),
    NAMED(FS_IOC_GETVERSION),
    NAMED(FS_IOC_GETFSLABEL),
    NAMED(FS_IOC_FIEMAP),
    NAMED(FS_IOC_GET_ENCRYPTION_POLICY),
    NAMED(FS_IOC_GET_ENCRYPTION_POLICY_EX),
    NAMED(FS_IOC_GET_ENCRYPTION_PWSALT),
    NAMED(FS_IOC_GET_ENCRYPTION_KEY_STATUS),
    NAMED(FS_IOC_MEASURE_VERITY),
    NAMED(FIBMAP),
    NAMED(FIGETBSZ),
    NAMED(FIOQSIZE),
    NAMED(FIONREAD),
    NAMED(FIONBIO),
    NAMED(FIOASYNC),
    NAMED(TCGETS),
    NAMED(TCSETS),
    NAMED(TCSETSW),
    NAMED(TCSETSF),
    NAMED(TIOCGWINSZ),
    NAMED(TIOCSWINSZ),
    NAMED(TIOCGPGRP),
    NAMED(TIOCSPGRP),
    NAMED(TIOCGSID),
    NAMED(TIOCSCTTY),
    NAMED(TIOCNOTTY),
    NAMED(TIOCGPTN),
    NAMED(TIOCSPTLCK),
    NAMED(TIOCGPTPEER),
    NAMED(TCFLSH),
    NAMED(TCSBRK),
    NAMED(TCXONC),
    NAMED(TIOCINQ),
    NAMED(TIOCOUTQ),
    NAMED(_IOC_NONE),
    NAMED(_IOC_READ),
    NAMED(_IOC_WRITE),
    Named{"EXT4_IOC_MOVE_EXT", 0xc028660f},
    Named{"EXT4_IOC_GETFLAGS", FS_IOC_GETFLAGS},
    // Asynchronous requests (linux/aio_abi.h).
    NAMED(IOCB_CMD_PREAD),
    NAMED(IOCB_CMD_PWRITE),
    NAMED(IOCB_CMD_FSYNC),
    NAMED(IOCB_CMD_FDSYNC),
    NAMED(IOCB_CMD_POLL),
    NAMED(IOCB_CMD_NOOP),
    NAMED(IOCB_CMD_PREADV),
    NAMED(IOCB_CMD_PWRITEV),
    // Values of a trace, which are other ones on some processors.
    Named{"O_DIRECT", open_flags::kDirect},
    Named{"O_LARGEFILE", open_flags::kLargeFile},
    Named{"O_DIRECTORY", open_flags::kDirectory},
    Named{"O_NOFOLLOW", open_flags::kNoFollow},
    Named{"O_TMPFILE", open_flags::kTemporary},
    // Names that some headers lack.
    Named{"MAP_32BIT", 0x40},
    Named{"MAP_ANON", MAP_ANONYMOUS},
    Named{"MAP_ABOVE4G", 0x80},
    Named{"MAP_UNINITIALIZED", 0x4000000},
    Named{"MAP_DROPPABLE", 8},
    Named{"MAP_HUGE_SHIFT", 26},
    Named{"FASYNC", O_ASYNC},
    Named{"__O_SYNC", O_SYNC & ~O_DSYNC},
    Named{"__O_TMPFILE", open_flags::kTemporary & ~open_flags::kDirectory},
}));
// clang-format on
#undef NAMED

}  // namespace

std::optional<std::uint64_t> strace_constant(std::string_view name) {
  const Named* found = find_by_name(kConstants, name);
  if (found == nullptr) return std::nullopt;
  return found->value;
}

int strace_error(std::string_view name) {
  constexpr int kMostErrors = 4095;
  static const auto kErrors = [] {
    // The library knows one of two names for an error.
    std::unordered_map<std::string_view, int> errors = {{"EWOULDBLOCK", EAGAIN},
                                                        {"ENOTSUP", EOPNOTSUPP}};
    for (int error = 1; error <= kMostErrors; ++error) {
      if (const char* known = strerrorname_np(error)) errors.emplace(known, error);
    }
    return errors;
  }();
  // Internal to the kernel: the call was interrupted.
  if (name.starts_with("ERESTART")) return EINTR;
  const auto found = kErrors.find(name);
  return found == kErrors.end() ? 0 : found->second;
}

}  // namespace filereel
