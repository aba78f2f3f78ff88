#!/usr/bin/env python3
"""Runs filereel's recorder under another kernel than this machine's, in an emulated machine (qemu).

    other_kernel.py KERNEL [--filereel PATH] [--calls DIR] [--accel tcg] [--processors 2]
                    [--memory 2048] [--boot OPTIONS] [--modules nvme,dm-mod] [--qemu OPTIONS]
                    [--seconds 5400] [--quick] [-- COMMAND ARG…]

KERNEL is a package of a kernel as Debian makes them, which is only unpacked:

    apt-get download linux-image-6.1.0-56-amd64
    other_kernel.py linux-image-6.1.0-56-amd64_*.deb

or a folder into which one was unpacked. The emulated machine sees this one's files, read-only (9p),
and has memory of its own in /tmp, /run and /dev/shm: what is to run may lie anywhere else. Nothing
of this machine is changed, and root is not needed. It runs, as its root

  filereel doctor
  filereel record --backend bpf of a tar that unpacks a few hundred files, show, and a replay with
  --verify tree; the same of a program that stores into memory maps; and of one that truncates a file
  as it opens it, that the size before is known (--quick ends here)
  what tests/integration/record_calls_test.py and record_test.py have for BPF, on ext4 in memory

or only COMMAND, in the current folder. --boot gives the kernel options, as preempt=full, --modules
loads more of its modules, and --qemu gives the machine disks and the like. The exit code is 0 if all
of them ended well. Without help by the processor (--accel kvm) all this takes half
an hour. Needs qemu-system-x86_64 with 9p, cpio, kmod, dpkg and a busybox that needs no libraries
(Debian: qemu-system-x86, busybox-static).
"""
import gzip
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

from peers import ROOT, argument_parser, run

MODULES = ["virtio_pci", "9pnet_virtio", "9p", "loop", "ext4"]
ENDED = "the work of the emulated machine ended with "

INIT = f"""#!/bin/sh
b=/bin/busybox
$b mount -t proc none /proc
while read module; do $b insmod /modules/$module; done </modules/order
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
cd /host
$b mount -t proc none proc
$b mount -t sysfs none sys
$b mount -t devtmpfs none dev
$b mkdir -p dev/shm dev/pts
$b mount -t devpts none dev/pts
for place in tmp run dev/shm; do $b mount -t tmpfs none $place; done
$b ip link set lo up
$b cp /work /start tmp
$b umount /proc
exec $b switch_root /host /bin/sh /tmp/start
"""

START = f"""
sh /tmp/work
echo "{ENDED}$?"
busybox poweroff -f
"""

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
must $FILEREEL doctor
for d in 0 1 2 3; do
  mkdir -p tree/dir$d/deep
  for f in $(seq 100); do head -c $((f * 97)) /dev/zero >tree/dir$d/deep/file_number_$f; done
  ln -s deep/file_number_1 tree/dir$d/link
done
tar cf tree.tar tree
must $FILEREEL -q record --backend bpf -o tar.reel -- tar xf tree.tar -C out
must $FILEREEL show tar.reel
must $FILEREEL -q replay tar.reel /tmp/target/tar --verify tree
outline() { (cd "$1" && find . -printf "%P %y %s %m %l\\n" | sort); }
outline tree >outline
outline /tmp/target/tar/tmp/tar/out/tree >outline_again
must cmp outline outline_again
mkdir mapped
must $FILEREEL -q record --backend bpf -o mapped.reel -- $CALLS/mmap_shared mapped
must $FILEREEL show mapped.reel
must $FILEREEL -q replay mapped.reel /tmp/target/mapped --verify tree
mkdir taken
head -c 5000 /dev/zero >taken/old
must $FILEREEL -q record --backend bpf --under taken -o taken.reel -- sh -c "echo new >taken/old"
$FILEREEL -q show taken.reel | tee shown
must grep "^before  *1 file, 5 kB" shown
"""

TESTS = f"""
cd {shlex.quote(os.path.join(ROOT, "tests/integration"))}
must python3 record_calls_test.py -k by_bpf
must python3 record_test.py -k Bpf
"""


def unpacked(kernel, folder):
    if kernel.is_dir():
        return kernel
    run("dpkg", "-x", kernel, folder / "kernel")
    return folder / "kernel"


def needed_modules(kernel, version, more, folder):
    """The files of MODULES, of `more` and of what they need, in the order to load them in."""
    top = folder / "modules"
    shutil.copytree(kernel / "lib/modules" / version, top / "lib/modules" / version)
    run("depmod", "-b", top, version)
    files = []
    for name in MODULES + more:
        said = run("modprobe", "-d", top, "-S", version, "--show-depends", name)
        for file in re.findall(r"^insmod (\S+)", said, re.MULTILINE):
            if file not in files:
                files.append(file)
    return files


def make_initramfs(modules, work, folder):
    root = folder / "root"
    for name in ("bin", "modules", "dev", "proc", "host"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    for file in modules:
        shutil.copy(file, root / "modules")
    names = [os.path.basename(file) for file in modules]
    (root / "modules/order").write_text("".join(f"{name}\n" for name in names))
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    (root / "start").write_text(START)
    (root / "work").write_text(work)
    paths = "\n".join(sorted(os.path.relpath(path, root) for path in root.rglob("*")))
    packed = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=root,
                            input=paths.encode(), stdout=subprocess.PIPE, check=True).stdout
    (folder / "initramfs").write_bytes(gzip.compress(packed, 1))
    return folder / "initramfs"


def boot(arguments, image, initramfs):
    """Prints what the machine says; the exit code of its work, None if that did not end."""
    command = ["qemu-system-x86_64", "-accel", arguments.accel, "-cpu", "max",
               "-smp", arguments.processors, "-m", arguments.memory, "-nographic", "-no-reboot",
               "-nic", "none", "-kernel", image, "-initrd", initramfs,
               "-append", "console=ttyS0 quiet panic=-1 " + arguments.boot,
               "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,"
                          "multidevs=remap", *shlex.split(arguments.qemu)]
    code = None
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, errors="replace") as machine:
        limit = threading.Timer(arguments.seconds, machine.kill)
        limit.start()
        for line in machine.stdout:
            print(line.rstrip(), flush=True)
            if line.startswith(ENDED):
                code = int(line[len(ENDED):])
        limit.cancel()
    return code


def parse():
    parser = argument_parser(__doc__)
    parser.add_argument("kernel", type=pathlib.Path)
    parser.add_argument("--calls", type=os.path.abspath)
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
    work = WORK.format(filereel=shlex.quote(arguments.filereel),
                       calls=shlex.quote(arguments.calls), folder=shlex.quote(os.getcwd()),
                       commands=commands)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kernel = unpacked(arguments.kernel, folder)
        version, = os.listdir(kernel / "lib/modules")
        more = [name for name in arguments.modules.split(",") if name]
        initramfs = make_initramfs(needed_modules(kernel, version, more, folder), work, folder)
        code = boot(arguments, kernel / "boot" / f"vmlinuz-{version}", initramfs)
    sys.exit(1 if code is None else code)


if __name__ == "__main__":
    main()
