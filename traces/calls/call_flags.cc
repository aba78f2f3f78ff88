#include "traces/calls/call_flags.h"

#include <array>
#include <cstddef>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "traces/open_flags.h"

namespace filereel {
namespace {

// Numbers below `numbers` are known, and all combinations of `bits`.
struct KnownFlags {
  Call call;
  std::uint64_t bits = 0;
  std::uint64_t numbers = 0;
};

constexpr std::uint64_t kAny = ~kUnknownFlag;

constexpr std::uint64_t kOfOpen =
    O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC |
    O_ASYNC | O_NOATIME | O_CLOEXEC | O_PATH | open_flags::kDirect | open_flags::kLargeFile |
    open_flags::kDirectory | open_flags::kNoFollow | open_flags::kTemporary;
// HIPRI, NOWAIT, ATOMIC, DONTCACHE and NOSIGNAL change neither the result nor the content.
constexpr std::uint64_t kOfTransfer = RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND |
                                      call_flags::kNoAppend | call_flags::kAtomic |
                                      call_flags::kDontCache | call_flags::kNoSignal;
constexpr std::uint64_t kOfName = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
constexpr std::uint64_t kOfStat =
    kOfName | AT_NO_AUTOMOUNT | AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC;
// FALLOC_FL_WRITE_ZEROES is not: older kernels refuse it.
constexpr std::uint64_t kOfAllocation = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE |
                                        FALLOC_FL_NO_HIDE_STALE | FALLOC_FL_COLLAPSE_RANGE |
                                        FALLOC_FL_ZERO_RANGE | FALLOC_FL_INSERT_RANGE |
                                        FALLOC_FL_UNSHARE_RANGE;
constexpr std::uint64_t kAbove4Gb = 0x80, kUninitialized = 0x4000000, kHugeSizes = 0xfc000000,
                        kIn32Bits = 0x40, kDroppable = 8;
constexpr std::uint64_t kOfMap =
    MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | kIn32Bits | kAbove4Gb | MAP_GROWSDOWN | MAP_DENYWRITE |
    MAP_EXECUTABLE | MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK |
    MAP_HUGETLB | MAP_SYNC | MAP_FIXED_NOREPLACE | kUninitialized | kHugeSizes;
constexpr std::uint64_t kNewTime = 0x80;  // CLONE_NEWTIME
constexpr std::uint64_t kOfUnshare = CLONE_FS | CLONE_FILES | CLONE_VM | CLONE_SIGHAND |
                                     CLONE_THREAD | CLONE_SYSVSEM | CLONE_NEWNS | CLONE_NEWUTS |
                                     CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                                     CLONE_NEWCGROUP | kNewTime;
// CLONE_CLEAR_SIGHAND and CLONE_INTO_CGROUP, of clone3.
constexpr std::uint64_t kOfFork = 0xffffffff | 1ULL << 32 | 1ULL << 33;
constexpr std::uint64_t kOfSplice = 0xf, kInRing = 1ULL << 31;  // SPLICE_F_*
constexpr std::uint64_t kOfWait =
    WNOHANG | WUNTRACED | WEXITED | WCONTINUED | WNOWAIT | __WNOTHREAD | __WALL | __WCLONE;
constexpr std::uint64_t kOfResolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |
                                     RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED;

// Calls without a line have no flags.
constexpr KnownFlags kKnown[] = {
    {Call::open, kOfOpen},
    {Call::close_range, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC},
    {Call::read, kOfTransfer},
    {Call::write, kOfTransfer},
    {Call::submit, kOfTransfer},
    {Call::seek, 0, SEEK_HOLE + 1},
    {Call::fallocate, kOfAllocation},
    {Call::sync_file_range, SYNC_FILE_RANGE_WRITE_AND_WAIT},
    {Call::stat, kOfStat},
    {Call::fstat, kOfStat},
    {Call::access, kOfName | AT_EACCESS},
    {Call::rmdir, AT_REMOVEDIR},
    {Call::rename, RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT},
    {Call::link, AT_SYMLINK_FOLLOW | AT_EMPTY_PATH},
    {Call::chmod, kOfName},
    {Call::fchmod, kOfName},
    {Call::chown, kOfName},
    {Call::fchown, kOfName},
    {Call::utimens, kOfName},
    {Call::futimens, kOfName},
    {Call::getxattr, kOfName},
    {Call::setxattr, kOfName | XATTR_CREATE | XATTR_REPLACE},
    {Call::listxattr, kOfName},
    {Call::removexattr, kOfName},
    {Call::splice, kOfSplice | kInRing},
    {Call::fadvise, 0, 8},  // s390 has two other numbers
    {Call::flock, LOCK_SH | LOCK_EX | LOCK_NB | LOCK_UN},
    {Call::record_lock, 0, F_UNLCK + 1},
    {Call::mmap, kOfMap},
    {Call::mremap, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP},
    {Call::msync, MS_ASYNC | MS_INVALIDATE | MS_SYNC},
    {Call::madvise, 0, 26},
    {Call::fault, 1},
    {Call::dup, O_CLOEXEC},
    {Call::set_cloexec, FD_CLOEXEC},
    {Call::set_flags, kOfOpen},
    {Call::fork, kOfFork},
    {Call::unshare, kOfUnshare},
    {Call::exec, kOfName | call_flags::kExecCheck},
    {Call::wait, kOfWait},
    {Call::new_descriptor, kAny},  // only close-on-exec matters
    {Call::new_pair, kAny},
    {Call::unsupported, kAny},
    {Call::unsupported_open, kAny},
    {Call::unknown, kAny},
    {Call::waited, kAny},
};

constexpr auto kByCall = [] {
  std::array<KnownFlags, static_cast<std::size_t>(Call::woke) + 1> by_call{};
  for (const KnownFlags& one : kKnown) by_call[static_cast<std::size_t>(one.call)] = one;
  return by_call;
}();

bool is_known_map(std::uint64_t flags) {
  const std::uint64_t type = flags & MAP_TYPE;
  return type == MAP_SHARED || type == MAP_PRIVATE || type == MAP_SHARED_VALIDATE ||
         type == kDroppable;
}

// MADV_REMOVE makes a hole in the mapped file.
bool is_known_advice(std::uint64_t advice) {
  constexpr std::uint64_t kFirstOfPoison = 100, kLastOfGuard = 103;
  return advice == kFirstOfPoison || (advice > kFirstOfPoison && advice <= kLastOfGuard) ||
         (advice < 26 && advice != MADV_REMOVE);
}

}  // namespace

bool has_unknown_flags(const SystemCall& call) {
  if ((call.resolve & ~kOfResolve) != 0) return true;
  if (call.call == Call::madvise) return !is_known_advice(call.flags);
  const KnownFlags& known = kByCall[static_cast<std::size_t>(call.call)];
  if (call.flags < known.numbers) return false;
  if ((call.flags & ~known.bits) != 0) return true;
  return call.call == Call::mmap && !is_known_map(call.flags);
}

}  // namespace filereel
