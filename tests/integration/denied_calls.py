"""Runs a command with one system call denied, as the seccomp policy of a container does.

    denied_calls.py CALL EPERM|ENOSYS COMMAND [ARG...]
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# Numbers by processor. Calls before 424 differ.
NUMBERS = {
    "x86_64": dict(
        fstat=5, poll=7, lseek=8, ioctl=16, pread64=17, pwrite64=18, access=21, madvise=28, mincore=27,
        sendfile=40, socketpair=53, kill=62, uname=63, fcntl=72, flock=73, fsync=74, fdatasync=75,
        ftruncate=77, getcwd=79, fchdir=81, mkdir=83, unlink=87, readlink=89, chmod=90, fchmod=91,
        fchown=93, getrusage=98, sysinfo=99, setpgid=109, statfs=137, fstatfs=138, setpriority=141,
        prctl=157, mount=165, umount2=166, readahead=187, setxattr=188, fsetxattr=190, getxattr=191,
        fgetxattr=193, flistxattr=196, sched_setaffinity=203, sched_getaffinity=204, getdents64=217,
        fadvise64=221, mkdirat=258, fchownat=260, newfstatat=262, unlinkat=263, renameat=264, linkat=265,
        symlinkat=266, readlinkat=267, fchmodat=268, unshare=272, sync_file_range=277, utimensat=280,
        fallocate=285, pipe2=293, prlimit64=302, syncfs=306, renameat2=316, getrandom=318,
        memfd_create=319, bpf=321, perf_event_open=298, copy_file_range=326, statx=332, ptrace=101),
    "aarch64": dict(
        fstat=80, lseek=62, ioctl=29, pread64=67, pwrite64=68, madvise=233, mincore=232, sendfile=71,
        socketpair=199, kill=129, uname=160, fcntl=25, flock=32, fsync=82, fdatasync=83, ftruncate=46,
        getcwd=17, fchdir=50, fchmod=52, fchown=55, getrusage=165, sysinfo=179, setpgid=154, statfs=43,
        fstatfs=44, setpriority=140, prctl=167, mount=40, umount2=39, readahead=213, setxattr=5,
        fsetxattr=7, getxattr=8, fgetxattr=10, flistxattr=13, sched_setaffinity=122,
        sched_getaffinity=123, getdents64=61, fadvise64=223, mkdirat=34, fchownat=54, newfstatat=79,
        unlinkat=35, linkat=37, symlinkat=36, readlinkat=78, fchmodat=53, unshare=97,
        sync_file_range=84, utimensat=88, fallocate=47, pipe2=59, prlimit64=261, syncfs=267,
        renameat2=276, getrandom=278, memfd_create=279, bpf=280, perf_event_open=241,
        copy_file_range=285, statx=291, ptrace=117),
}
SAME = dict(io_uring_setup=425, io_uring_enter=426, io_uring_register=427, pidfd_open=434, clone3=435,
            openat2=437, faccessat2=439, cachestat=451, fchmodat2=452)
CALLS = NUMBERS.get(platform.machine(), {}) | SAME if platform.machine() in NUMBERS else {}


class Program(ctypes.Structure):
    """struct sock_fprog"""
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def filter_of(number, error):
    """The instructions (struct sock_filter) that let this call return the error."""
    load_number, equal, ret = 0x20, 0x15, 0x06
    seccomp_errno, allow = 0x00050000, 0x7fff0000
    return b"".join(struct.pack("=HBBI", *one) for one in (
        (load_number, 0, 0, 0),  # offsetof(struct seccomp_data, nr)
        (equal, 0, 1, number),
        (ret, 0, 0, seccomp_errno | error),
        (ret, 0, 0, allow)))


LIBRARY = ctypes.CDLL(None, use_errno=True)


def denier(call, error):
    """What denies the call to the process that calls it, and to the programs that it starts; for
    subprocess's preexec_fn."""
    program = filter_of(CALLS[call], getattr(errno, error))

    def deny():
        if os.geteuid() != 0:
            LIBRARY.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        asked = Program(len(program) // 8, program)
        if LIBRARY.prctl(22, 2, ctypes.byref(asked), 0, 0) != 0:  # PR_SET_SECCOMP, a filter
            raise OSError(ctypes.get_errno(), "seccomp")

    return deny


if __name__ == "__main__":
    denier(sys.argv[1], sys.argv[2])()
    os.execvp(sys.argv[3], sys.argv[3:])
