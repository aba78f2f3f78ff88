#!/usr/bin/env python3
"""Runs filereel under another kernel than this machine's, in an emulated machine (qemu).

    other_kernel.py KERNEL [--filereel PATH] [--calls DIR] [--root DIR] [--accel tcg] [--processors 2]
                    [--memory 2048] [--boot OPTIONS] [--modules nvme,dm-mod] [--qemu OPTIONS]
                    [--seconds 5400] [--quick] [-- COMMAND ARG…]

KERNEL is a package of a kernel as Debian makes them, which is only unpacked:

    apt-get download linux-image-6.1.0-56-amd64
    other_kernel.py linux-image-6.1.0-56-amd64_*.deb

or a folder into which one was unpacked. The emulated machine sees this one's files, read-only (9p),
and has memory of its own in /tmp, /run and /dev/shm: what is to run may lie anywhere else. Nothing
of this machine is changed, and root is not needed. It runs, as its root

  filereel doctor
  FC-Test at a small scale on ext4 in an image
  filereel record --backend bpf of a tar that unpacks a few hundred files, show, and a replay with
  --verify tree; the same of a program that stores into memory maps; and of one that truncates a file
  as it opens it, that the size before is known (--quick ends here)
  what tests/integration/record_calls_test.py and record_test.py have for BPF, on ext4 in memory

or only COMMAND, in the current folder. Before Linux 5.17, which BPF needs, it records tar alone, with strace.
--root takes the root directory of another system with busybox-static, tar, e2fsprogs and strace, and then
PATH has to be the portable program and --quick is given. --boot gives the kernel options, as preempt=full, --modules
loads more of its modules, and --qemu gives the machine disks and the like. The exit code is 0 if all
of them ended well. Without help by the processor (--accel kvm) all this takes half
an hour. Needs qemu-system-x86_64 with 9p, cpio, kmod, dpkg and a busybox that needs no libraries
(Debian: qemu-system-x86, busybox-static).
"""
import os
import pathlib
import shlex
import sys
import tempfile

from guest import Guest, boot
from peers import ROOT, argument_parser

WORK = """
export HOME=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1 FILEREEL={filereel} CALLS={calls}
failed=0
must() {{
  echo "== $*"
  "$@" && return
  echo "== FAILED with $?: $*"
  failed=1
}}
uname -sr
export FILEREEL_STATE_DIR=/tmp/state  # the rest of the machine is read-only
cd {folder}
{commands}
exit $failed
"""

RECORDINGS = """
mkdir -p /tmp/tar/tree /tmp/tar/out /tmp/target/tar /tmp/target/mapped
cd /tmp/tar
case $(uname -r) in 5.[0-9].* | 5.1[0-6].*) backend=strace ;; *) backend=bpf ;; esac
must $FILEREEL doctor
must $FILEREEL -q run install --scale 0.01 --runs 1 --fs ext4 --near image:/tmp/near.img,size=200M
for d in 0 1 2 3; do
  mkdir -p tree/dir$d/deep
  for f in $(seq 100); do head -c $((f * 97)) /dev/zero >tree/dir$d/deep/file_number_$f; done
  ln -s deep/file_number_1 tree/dir$d/link
done
tar cf tree.tar tree
must $FILEREEL -q record --backend $backend -o tar.reel -- tar xf tree.tar -C out
must $FILEREEL show tar.reel
must $FILEREEL -q replay tar.reel /tmp/target/tar --verify tree
outline() { (cd "$1" && find . -printf "%P %y %s %m %l\\n" | sort); }
outline tree >outline
outline /tmp/target/tar/tmp/tar/out/tree >outline_again
must cmp outline outline_again
[ $backend = bpf ] || exit $failed
mkdir taken
head -c 5000 /dev/zero >taken/old
must $FILEREEL -q record --backend bpf --under taken -o taken.reel -- sh -c "echo new >taken/old"
$FILEREEL -q show taken.reel | tee shown
must grep "^before  *1 file, 5 kB" shown
[ -d $CALLS ] || exit $failed
mkdir mapped
must $FILEREEL -q record --backend bpf -o mapped.reel -- $CALLS/mmap_shared mapped
must $FILEREEL show mapped.reel
must $FILEREEL -q replay mapped.reel /tmp/target/mapped --verify tree
"""

TESTS = f"""
cd {shlex.quote(os.path.join(ROOT, "tests/integration"))}
must python3 record_calls_test.py -k by_bpf
must python3 record_test.py -k Bpf
"""


def parse():
    parser = argument_parser(__doc__)
    parser.add_argument("kernel", type=pathlib.Path)
    parser.add_argument("--calls", type=os.path.abspath)
    parser.add_argument("--root", type=os.path.abspath, default="/")
    parser.add_argument("--accel", default="tcg")
    parser.add_argument("--processors", type=int, default=2)
    parser.add_argument("--memory", type=int, default=2048, help="in MiB")
    parser.add_argument("--boot", default="mitigations=off", help="options of the kernel")
    parser.add_argument("--modules", default="", help="more of the kernel's, NAME,NAME")
    parser.add_argument("--qemu", default="", help="options of the machine, such as disks")
    parser.add_argument("--seconds", type=float, default=5400)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("command", nargs="*")
    arguments = parser.parse_intermixed_args()  # options may follow KERNEL
    if not arguments.calls:
        arguments.calls = os.path.join(os.path.dirname(arguments.filereel), "tests/calls")
    return arguments


def main():
    arguments = parse()
    commands = RECORDINGS + ("" if arguments.quick else TESTS)
    if arguments.command:
        commands = "must " + shlex.join(arguments.command)
    filereel, calls, folder, shares = arguments.filereel, arguments.calls, os.getcwd(), {}
    if arguments.root != "/":
        shares["/tmp/host"] = os.path.dirname(filereel)
        filereel, calls, folder = f"/tmp/host/{os.path.basename(filereel)}", "/nowhere", "/tmp"
    work = WORK.format(filereel=shlex.quote(filereel), calls=shlex.quote(calls),
                       folder=shlex.quote(folder), commands=commands)
    guest = Guest(accel=arguments.accel, processors=arguments.processors, memory=arguments.memory,
                  boot=arguments.boot, qemu=arguments.qemu, seconds=arguments.seconds,
                  root=arguments.root, shares=shares,
                  modules=[name for name in arguments.modules.split(",") if name])
    with tempfile.TemporaryDirectory() as folder:
        code = boot(guest, arguments.kernel, work, folder)
    sys.exit(1 if code is None else code)


if __name__ == "__main__":
    main()
