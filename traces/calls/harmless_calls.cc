#include "traces/calls/harmless_calls.h"

#include <array>

#include "traces/calls/call_numbers.h"
#include "traces/calls/call_table.h"
#include "traces/calls/name_table.h"

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

}  // namespace filereel
