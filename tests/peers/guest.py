"""An emulated machine (qemu) under another kernel or with another processor.

The machine's root directory is a folder of this one, read-only (9p): / itself, or a system for another
processor. It has memory of its own in /tmp, /run and /dev/shm. Folders can be shared with it. Nothing
of this machine is changed, and root is not needed. Needs qemu-system-* with 9p, cpio, kmod, dpkg, and a
busybox in the machine's root that needs no libraries (Debian: busybox-static).
"""
import dataclasses
import gzip
import lzma
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import threading

from peers import run

MODULES = ["virtio_pci", "9pnet_virtio", "9p", "loop", "ext4"]
ENDED = "the work of the emulated machine ended with "


@dataclasses.dataclass(frozen=True)
class Machine:
    qemu: str
    options: tuple
    console: str


MACHINES = {
    "x86_64": Machine("qemu-system-x86_64", ("-cpu", "max"), "ttyS0"),
    # `max` has pointer authentication, which takes most of the time of emulation.
    "aarch64": Machine("qemu-system-aarch64", ("-M", "virt", "-cpu", "neoverse-n1"), "ttyAMA0"),
}


@dataclasses.dataclass
class Guest:
    processor: str = os.uname().machine
    accel: str = "tcg"
    processors: int = 2
    memory: int = 2048  # MiB
    boot: str = "mitigations=off"
    modules: tuple = ()  # in addition to MODULES
    optional: tuple = ()  # modules that the kernel may lack
    qemu: str = ""
    seconds: float = 5400
    root: str = "/"
    # Folders of this machine, writable, by their path in the other: there, or below /tmp.
    shares: dict = dataclasses.field(default_factory=dict)


INIT = """#!/bin/sh
b=/bin/busybox
$b mount -t proc none /proc
while read module; do $b insmod /modules/$module; done </modules/order
take() {{ $b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,"$1" "$2" "$3"; }}
take ro,cache=loose host /host
cd /host
$b mount -t proc none proc
$b mount -t sysfs none sys
$b mount -t devtmpfs none dev
$b mkdir -p dev/shm dev/pts
$b ln -s /proc/self/fd dev/fd
$b mount -t devpts none dev/pts
for place in tmp run dev/shm; do $b mount -t tmpfs none $place; done
{shares}
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


def unpacked(kernel, folder):
    if kernel.is_dir():
        return kernel
    run("dpkg", "-x", kernel, folder / "kernel")
    return folder / "kernel"


def modules_of(kernel):
    """From Debian 13 on, packages have them below usr."""
    return next(kernel / top / "lib/modules" for top in ("", "usr")
                if (kernel / top / "lib/modules").is_dir())


def needed_modules(kernel, version, guest, folder):
    """The files of the guest's modules and of what they need, in the order to load them in."""
    top = folder / "modules"
    shutil.copytree(modules_of(kernel) / version, top / "lib/modules" / version)
    run("depmod", "-b", top, version)
    files = []
    for name in [*MODULES, *guest.modules, *guest.optional]:
        try:
            said = run("modprobe", "-d", top, "-S", version, "--show-depends", name)
        except subprocess.CalledProcessError:
            if name not in guest.optional:
                raise
            continue
        for file in re.findall(r"^insmod (\S+)", said, re.MULTILINE):
            if file not in files:
                files.append(file)
    return files


def copy_module(file, folder):
    """Its name there. The kernel does not take compressed ones from busybox."""
    name = os.path.basename(file)
    if not name.endswith(".xz"):
        shutil.copy(file, folder)
        return name
    name = name.removesuffix(".xz")
    with lzma.open(file) as packed, open(folder / name, "wb") as module:
        shutil.copyfileobj(packed, module)
    return name


def busybox_of(root):
    for place in ("bin/busybox", "usr/bin/busybox"):
        if os.path.exists(os.path.join(root, place)):
            return os.path.join(root, place)
    raise SystemExit(f"{root} has no busybox (Debian: busybox-static)")


def make_initramfs(guest, modules, work, folder):
    root = folder / "root"
    for name in ("bin", "modules", "dev", "proc", "host"):
        (root / name).mkdir(parents=True)
    shutil.copy(busybox_of(guest.root), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    names = [copy_module(file, root / "modules") for file in modules]
    (root / "modules/order").write_text("".join(f"{name}\n" for name in names))
    shares = "\n".join(f"$b mkdir -p {shlex.quote('.' + place)}\n"
                       f"take rw,cache=none share{i} {shlex.quote('.' + place)}"
                       for i, place in enumerate(guest.shares))
    (root / "init").write_text(INIT.format(shares=shares))
    (root / "init").chmod(0o755)
    (root / "start").write_text(START)
    (root / "work").write_text(work)
    paths = "\n".join(sorted(os.path.relpath(path, root) for path in root.rglob("*")))
    packed = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=root,
                            input=paths.encode(), stdout=subprocess.PIPE, check=True).stdout
    (folder / "initramfs").write_bytes(gzip.compress(packed, 1))
    return folder / "initramfs"


def shared(path, tag, *options):
    return ["-virtfs", ",".join(["local", f"path={path}", f"mount_tag={tag}", "security_model=none",
                                 "multidevs=remap", *options])]


def start(guest, image, initramfs):
    """Prints what the machine says; the exit code of its work, None if that did not end."""
    machine = MACHINES[guest.processor]
    command = [machine.qemu, *machine.options, "-accel", guest.accel, "-smp", guest.processors,
               "-m", guest.memory, "-nographic", "-no-reboot", "-nic", "none", "-kernel", image,
               "-initrd", initramfs,
               "-append", f"console={machine.console} quiet panic=-1 {guest.boot}",
               *shared(guest.root, "host", "readonly=on"), *shlex.split(guest.qemu)]
    for i, path in enumerate(guest.shares.values()):
        command += shared(path, f"share{i}")
    code = None
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, errors="replace") as process:
        limit = threading.Timer(guest.seconds, process.kill)
        limit.start()
        for line in process.stdout:
            print(line.rstrip(), flush=True)
            if line.startswith(ENDED):
                code = int(line[len(ENDED):])
        limit.cancel()
    return code


def boot(guest, kernel, work, folder):
    """Boots the kernel, a package of Debian's or a folder with one unpacked, and runs the shell script
    `work` there as root. The exit code of the script, None if it did not end."""
    folder = pathlib.Path(folder)
    kernel = unpacked(pathlib.Path(kernel), folder)
    version, = os.listdir(modules_of(kernel))
    modules = needed_modules(kernel, version, guest, folder)
    initramfs = make_initramfs(guest, modules, work, folder)
    return start(guest, kernel / "boot" / f"vmlinuz-{version}", initramfs)
