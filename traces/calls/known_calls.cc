#include "traces/calls/known_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "filesets/system/search.h"
#include "traces/calls/call_table.h"
#include "traces/calls/name_table.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

#define NUMBERED(name)                \
  HarmlessCall {                      \
    FILEREEL_CALL_NUMBER(name), #name \
  }

// clang-format off
constexpr auto kHarmless = sorted_by_name(std::to_array<HarmlessCall>({
    NUMBERED(add_key), NUMBERED(adjtimex), NUMBERED(afs_syscall), NUMBERED(alarm),
    NUMBERED(arch_prctl), NUMBERED(bdflush), NUMBERED(bpf), NUMBERED(break),
    NUMBERED(brk), NUMBERED(cacheflush), NUMBERED(capget), NUMBERED(capset),
    NUMBERED(clock_adjtime), NUMBERED(clock_adjtime64), NUMBERED(clock_getres),
    NUMBERED(clock_getres_time64), NUMBERED(clock_gettime), NUMBERED(clock_gettime64),
    NUMBERED(clock_nanosleep), NUMBERED(clock_nanosleep_time64), NUMBERED(clock_settime),
    NUMBERED(clock_settime64), NUMBERED(connect), NUMBERED(create_module),
    NUMBERED(delete_module), NUMBERED(epoll_ctl), NUMBERED(epoll_ctl_old),
    NUMBERED(epoll_pwait), NUMBERED(epoll_pwait2), NUMBERED(epoll_wait),
    NUMBERED(epoll_wait_old), NUMBERED(fanotify_mark), NUMBERED(finit_module),
    NUMBERED(fsconfig), NUMBERED(ftime), NUMBERED(futex), NUMBERED(futex_time64),
    NUMBERED(futex_waitv), NUMBERED(get_kernel_syms), NUMBERED(get_mempolicy),
    NUMBERED(get_robust_list), NUMBERED(get_thread_area), NUMBERED(getcpu), NUMBERED(getcwd),
    NUMBERED(getegid), NUMBERED(getegid32), NUMBERED(geteuid), NUMBERED(geteuid32),
    NUMBERED(getgid), NUMBERED(getgid32), NUMBERED(getgroups), NUMBERED(getgroups32),
    NUMBERED(getitimer), NUMBERED(getpeername), NUMBERED(getpgid), NUMBERED(getpgrp),
    NUMBERED(getpid), NUMBERED(getpmsg), NUMBERED(getppid), NUMBERED(getpriority),
    NUMBERED(getrandom), NUMBERED(getresgid), NUMBERED(getresgid32), NUMBERED(getresuid),
    NUMBERED(getresuid32), NUMBERED(getrlimit), NUMBERED(getrusage), NUMBERED(getsid),
    NUMBERED(getsockname), NUMBERED(getsockopt), NUMBERED(gettid), NUMBERED(gettimeofday),
    NUMBERED(getuid), NUMBERED(getuid32), NUMBERED(gtty), NUMBERED(idle), NUMBERED(init_module),
    NUMBERED(inotify_add_watch), NUMBERED(inotify_rm_watch), NUMBERED(io_destroy),
    NUMBERED(io_setup), NUMBERED(io_uring_enter), NUMBERED(io_uring_register), NUMBERED(ioperm),
    NUMBERED(iopl), NUMBERED(ioprio_get), NUMBERED(ioprio_set), NUMBERED(ipc), NUMBERED(kcmp),
    NUMBERED(kexec_file_load), NUMBERED(kexec_load), NUMBERED(keyctl), NUMBERED(kill),
    NUMBERED(landlock_add_rule), NUMBERED(landlock_restrict_self), NUMBERED(listen),
    NUMBERED(lock), NUMBERED(lookup_dcookie), NUMBERED(mbind), NUMBERED(membarrier),
    NUMBERED(migrate_pages), NUMBERED(mincore), NUMBERED(mlock), NUMBERED(mlock2),
    NUMBERED(mlockall), NUMBERED(modify_ldt), NUMBERED(move_pages), NUMBERED(mprotect),
    NUMBERED(mpx), NUMBERED(mq_getsetattr), NUMBERED(mq_notify), NUMBERED(mq_timedreceive),
    NUMBERED(mq_timedreceive_time64), NUMBERED(mq_timedsend), NUMBERED(mq_timedsend_time64),
    NUMBERED(mq_unlink), NUMBERED(msgctl), NUMBERED(msgget), NUMBERED(msgrcv), NUMBERED(msgsnd),
    NUMBERED(munlock), NUMBERED(munlockall), NUMBERED(name_to_handle_at), NUMBERED(nanosleep),
    NUMBERED(_newselect), NUMBERED(nice), NUMBERED(oldolduname), NUMBERED(olduname),
    NUMBERED(pause), NUMBERED(personality), NUMBERED(pidfd_send_signal), NUMBERED(pkey_alloc),
    NUMBERED(pkey_free), NUMBERED(pkey_mprotect), NUMBERED(poll), NUMBERED(ppoll),
    NUMBERED(ppoll_time64), NUMBERED(prctl), NUMBERED(prlimit64), NUMBERED(process_madvise),
    NUMBERED(process_mrelease), NUMBERED(process_vm_readv), NUMBERED(process_vm_writev),
    NUMBERED(prof), NUMBERED(profil), NUMBERED(pselect6), NUMBERED(pselect6_time64),
    NUMBERED(ptrace), NUMBERED(putpmsg), NUMBERED(query_module), NUMBERED(reboot),
    NUMBERED(recv), NUMBERED(recvfrom), NUMBERED(recvmmsg), NUMBERED(recvmmsg_time64),
    NUMBERED(recvmsg), NUMBERED(request_key), NUMBERED(restart_syscall),
    NUMBERED(riscv_flush_icache), NUMBERED(riscv_hwprobe), NUMBERED(rseq),
    NUMBERED(rt_sigaction), NUMBERED(rt_sigpending), NUMBERED(rt_sigprocmask),
    NUMBERED(rt_sigqueueinfo), NUMBERED(rt_sigreturn), NUMBERED(rt_sigsuspend),
    NUMBERED(rt_sigtimedwait), NUMBERED(rt_sigtimedwait_time64), NUMBERED(rt_tgsigqueueinfo),
    NUMBERED(sched_get_priority_max), NUMBERED(sched_get_priority_min),
    NUMBERED(sched_getaffinity), NUMBERED(sched_getattr), NUMBERED(sched_getparam),
    NUMBERED(sched_getscheduler), NUMBERED(sched_rr_get_interval),
    NUMBERED(sched_rr_get_interval_time64), NUMBERED(sched_setaffinity),
    NUMBERED(sched_setattr), NUMBERED(sched_setparam), NUMBERED(sched_setscheduler),
    NUMBERED(sched_yield), NUMBERED(seccomp), NUMBERED(security), NUMBERED(select),
    NUMBERED(semctl), NUMBERED(semget), NUMBERED(semop), NUMBERED(semtimedop),
    NUMBERED(semtimedop_time64), NUMBERED(send), NUMBERED(sendmmsg), NUMBERED(sendmsg),
    NUMBERED(sendto), NUMBERED(set_mempolicy), NUMBERED(set_robust_list),
    NUMBERED(set_thread_area), NUMBERED(set_tid_address), NUMBERED(set_tls),
    NUMBERED(setdomainname), NUMBERED(setfsgid), NUMBERED(setfsgid32), NUMBERED(setfsuid),
    NUMBERED(setfsuid32), NUMBERED(setgid), NUMBERED(setgid32), NUMBERED(setgroups),
    NUMBERED(setgroups32), NUMBERED(sethostname), NUMBERED(setitimer), NUMBERED(setpgid),
    NUMBERED(setpriority), NUMBERED(setregid), NUMBERED(setregid32), NUMBERED(setresgid),
    NUMBERED(setresgid32), NUMBERED(setresuid), NUMBERED(setresuid32), NUMBERED(setreuid),
    NUMBERED(setreuid32), NUMBERED(setrlimit), NUMBERED(setsid), NUMBERED(setsockopt),
    NUMBERED(settimeofday), NUMBERED(setuid), NUMBERED(setuid32), NUMBERED(sgetmask),
    NUMBERED(shmat), NUMBERED(shmctl), NUMBERED(shmdt), NUMBERED(shmget), NUMBERED(shutdown),
    NUMBERED(sigaction), NUMBERED(sigaltstack), NUMBERED(signal), NUMBERED(sigpending),
    NUMBERED(sigprocmask), NUMBERED(sigreturn), NUMBERED(sigsuspend), NUMBERED(socketcall),
    NUMBERED(ssetmask), NUMBERED(stime), NUMBERED(stty), NUMBERED(_sysctl), NUMBERED(sysfs),
    NUMBERED(sysinfo), NUMBERED(syslog), NUMBERED(tgkill), NUMBERED(time),
    NUMBERED(timer_create), NUMBERED(timer_delete), NUMBERED(timer_getoverrun),
    NUMBERED(timer_gettime), NUMBERED(timer_gettime64), NUMBERED(timer_settime),
    NUMBERED(timer_settime64), NUMBERED(timerfd_gettime), NUMBERED(timerfd_gettime64),
    NUMBERED(timerfd_settime), NUMBERED(timerfd_settime64), NUMBERED(times), NUMBERED(tkill),
    NUMBERED(tuxcall), NUMBERED(ugetrlimit), NUMBERED(ulimit), NUMBERED(uname), NUMBERED(ustat),
    NUMBERED(vhangup), NUMBERED(vm86), NUMBERED(vm86old), NUMBERED(vserver),
    // Newer than some headers; no processor uses these numbers for other calls.
    {335, "uretprobe"}, {336, "uprobe"}, {450, "set_mempolicy_home_node"}, {451, "cachestat"},
    {453, "map_shadow_stack"}, {454, "futex_wake"}, {455, "futex_wait"}, {456, "futex_requeue"},
    {457, "statmount"}, {458, "listmount"}, {459, "lsm_get_self_attr"},
    {460, "lsm_set_self_attr"}, {461, "lsm_list_modules"}, {462, "mseal"}, {468, "file_getattr"},
    {470, "listns"},
}));
// clang-format on
#undef NUMBERED

}  // namespace

std::span<const HarmlessCall> harmless_calls() {
  return kHarmless;
}

bool is_harmless_call(std::string_view name) {
  return find_by_name(kHarmless, name) != nullptr;
}

bool is_system_call(std::string_view name) {
  // strace names calls that it does not know by their numbers.
  return is_harmless_call(name) || find_call(name) != nullptr || name.starts_with("syscall_");
}

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
  for (const KnownFlags& flags : kKnown) by_call[static_cast<std::size_t>(flags.call)] = flags;
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

namespace {

// Locks are only asked for; signals, leases, seals, hints and the sizes of pipes are no content.
constexpr auto kHarmlessFcntl = std::to_array<std::uint64_t>({
    F_GETFD,
    F_GETFL,
    F_GETLK,
    F_OFD_GETLK,
    F_SETOWN,
    F_GETOWN,
    F_SETSIG,
    F_GETSIG,
    F_SETOWN_EX,
    F_GETOWN_EX,
    F_SETLEASE,
    F_GETLEASE,
    F_NOTIFY,
    F_SETPIPE_SZ,
    F_GETPIPE_SZ,
    F_ADD_SEALS,
    F_GET_SEALS,
    F_GET_RW_HINT,
    F_SET_RW_HINT,
    F_GET_FILE_RW_HINT,
    F_SET_FILE_RW_HINT,
});
// F_GETOWNER_UIDS; F_DUPFD_QUERY, F_CREATED_QUERY, F_CANCELLK; F_GETDELEG, F_SETDELEG; F_GETLK64 of
// 32-bit programs.
constexpr auto kHarmlessInNoHeader =
    std::to_array<std::uint64_t>({17, 1027, 1028, 1029, 1039, 1040, 12});

struct Ioctl {
  unsigned type, number;
};
// Those that look at files, but have a direction for writing or none.
constexpr auto kHarmlessIoctl = std::to_array<Ioctl>({
    {0, 1},
    {0, 2},  // FIBMAP, FIGETBSZ
    // FS_IOC_FIEMAP; GET_ENCRYPTION_PWSALT, _POLICY, _POLICY_EX, _KEY_STATUS; MEASURE_VERITY,
    // READ_VERITY_METADATA; EXT4_IOC_GET_ES_CACHE, EXT4_IOC_GETFSUUID
    {'f', 11},
    {'f', 20},
    {'f', 21},
    {'f', 22},
    {'f', 26},
    {'f', 134},
    {'f', 135},
    {'f', 42},
    {'f', 44},
    // XFS: GETBMAP, GETBMAPX, GETFSMAP, FSGEOMETRY, FSBULKSTAT, INUMBERS, BULKSTAT and handles
    {'X', 38},
    {'X', 56},
    {'X', 59},
    {'X', 100},
    {'X', 101},
    {'X', 102},
    {'X', 103},
    {'X', 104},
    {'X', 105},
    {'X', 124},
    {'X', 127},
    {'X', 128},
    {'X', 129},
    // Btrfs: SYNC, TREE_SEARCH, INO_LOOKUP, SPACE_INFO, WAIT_SYNC, DEV_INFO, INO_PATHS,
    // LOGICAL_INO, GET_DEV_STATS, LOGICAL_INO_V2, GET_SUBVOL_ROOTREF, INO_LOOKUP_USER
    {0x94, 8},
    {0x94, 17},
    {0x94, 18},
    {0x94, 20},
    {0x94, 22},
    {0x94, 30},
    {0x94, 35},
    {0x94, 36},
    {0x94, 52},
    {0x94, 59},
    {0x94, 61},
    {0x94, 62},
});

}  // namespace

bool is_harmless_fcntl(std::uint64_t command) {
  return contains(kHarmlessFcntl, command) || contains(kHarmlessInNoHeader, command);
}

bool is_harmless_ioctl(std::uint64_t command) {
  constexpr unsigned kTerminals = 'T', kSockets = 0x89, kEvents = 0x8a;
  const auto number = static_cast<unsigned>(command);
  const unsigned type = _IOC_TYPE(number);
  if (type == kTerminals || type == kSockets || type == kEvents) return true;
  if (_IOC_DIR(number) == _IOC_READ) return true;  // it only returns something
  return std::ranges::any_of(kHarmlessIoctl, [&](const Ioctl& ioctl) {
    return ioctl.type == type && ioctl.number == _IOC_NR(number);
  });
}

}  // namespace filereel
