#!/usr/bin/env python3
"""Runs filereel for arm64 in an emulated machine (qemu), and exchanges reels with this machine.

    arm64_guest.py ROOT [--filereel build/aarch64/filereel] [--native build/release/filereel]
                   [--kernel KERNEL] [--keep FOLDER] [--mirror URL] [--calls] [-- COMMAND ARG…]

ROOT is a folder with Debian for arm64. If it does not exist, it is made: debootstrap downloads the
packages, which are only unpacked (needs root, debootstrap and dpkg). It contains the kernel;
--kernel takes another one, a package or a folder with one unpacked. In the emulated machine,
as its root:

  filereel doctor
  FC-Test at a small scale on ext4, NTFS (ntfs3 if the kernel has it) and FAT32 (vfat) in images
  records of tar, sqlite3, git, cp and a shell script by BPF, and of tar by strace
  replays of these with --verify tree, and of five records of the same programs on this machine

Then this machine replays all ten. For each recording, the trees after both replays must be the one
that the program left (names, types, permissions, sizes, targets of links), and the bytes of all files
the same on both processors. --calls runs the programs of tests/integration/record_calls_test.py, too.
COMMAND runs instead of all that, with filereel in /tmp/bin. --keep keeps the reels and outlines.
Emulation takes a quarter of an hour. Needs qemu-system-aarch64 (Debian: qemu-system-arm) and what
guest.py needs; as root, this machine records by BPF, otherwise by strace.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from guest import Guest, boot
from outline import outline
from peers import HERE, ROOT, run

PACKAGES = """linux-image-arm64 busybox-static python3 python3-yaml strace git sqlite3 e2fsprogs
    dosfstools ntfs-3g mount util-linux kmod procps xz-utils libboost-filesystem1.74.0 libfmt9
    libyaml-cpp0.7 libbpf1 liburing2 libpugixml1v5 libblkid1 libxxhash0 libzstd1 psmisc file""".split()
OPTIONAL = ("ntfs3",)
MODULES = ("vfat", "fuse", "nls_cp437", "nls_ascii", "nls_iso8859-1", "nls_utf8")

# Each works in a folder of its own, which contains tree.tar, and uses all files there.
PROGRAMS = {
    "tar": "tar xf tree.tar",
    "sqlite": "rm tree.tar; sqlite3 db 'PRAGMA journal_mode=WAL; CREATE TABLE t(a, b); "
              "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
              "INSERT INTO t SELECT i, hex(zeroblob(50)) FROM n; CREATE INDEX x ON t(b, a); "
              "DELETE FROM t WHERE a%3=0; VACUUM;'",
    "git": "git init -q . && git add tree.tar && git -c user.name=a -c user.email=a@b "
           "-c gc.auto=0 commit -q -m one && git checkout -q -b other",
    "copy": "mkdir from && tar xf tree.tar -C from && cp -r from to && rm -r from",
    "shell": "mkdir -p a/b && for i in 1 2 3 4 5 6 7 8; do head -c ${i}0000 tree.tar >a/b/$i; done; "
             "ln a/b/1 a/one; ln -s b/2 a/two; mv a/b/3 a/three; rm a/b/4; chmod 600 a/b/5; "
             "truncate -s 123 a/b/6; dd if=tree.tar of=a/direct bs=4k count=4 oflag=direct,sync "
             "2>/dev/null || :; find a -type f | sort >list",
}

HEAD = """
export HOME=/tmp PATH=/tmp/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 FILEREEL_STATE_DIR=/tmp/state
umask 022
failed=0
must() {
  echo "== $*"
  "$@" && return
  echo "== FAILED with $?: $*"
  failed=1
}
mkdir -p /tmp/bin /tmp/disk
truncate -s 1G /tmp/disk.img
mkfs.ext4 -q /tmp/disk.img
mount -o loop /tmp/disk.img /tmp/disk
cp /tmp/host/filereel /tmp/host/outline.py /tmp/bin
uname -srm
cd /tmp
"""

FC_TEST = """
must timeout 900 filereel -q doctor
must timeout 900 filereel -q run install --scale 0.02 --runs 1 --fs ext4,ntfs,fat32 \\
  --near image:/tmp/near.img,size=400M --json /tmp/host/fc-test.json
rm -f /tmp/near.img
"""

RECORD = """
mkdir -p /tmp/disk/programs/{name}
cd /tmp/disk/programs/{name}
cp /tmp/host/tree.tar .
must timeout 900 filereel -q record --backend bpf -o /tmp/host/aarch64-{name}.reel -- sh /tmp/host/{name}.sh
outline.py . >/tmp/host/aarch64-{name}.original
cd /tmp
must timeout 900 filereel -q show /tmp/host/aarch64-{name}.reel
"""

STRACE = """
mkdir -p /tmp/disk/programs/strace /tmp/disk/target/strace
cd /tmp/disk/programs/strace
cp /tmp/host/tree.tar .
must timeout 900 filereel -q record --backend strace -o /tmp/strace.reel -- sh /tmp/host/tar.sh
cd /tmp
must timeout 900 filereel -q replay /tmp/strace.reel /tmp/disk/target/strace --verify tree
"""

REPLAY = """
mkdir -p /tmp/disk/target/{reel}
must timeout 900 filereel -q replay /tmp/host/{reel}.reel /tmp/disk/target/{reel} --verify tree
outline.py --content /tmp/disk/target/{reel}{folder} >/tmp/host/{reel}.on-aarch64
rm -rf /tmp/disk/target/{reel}
"""

CALLS = """
export FILEREEL=/tmp/bin/filereel CALLS=/tmp/calls
cp -r /tmp/host/calls /tmp/calls
cp -r /tmp/host/integration /tmp/integration
cd /tmp/integration
must timeout 9000 python3 record_calls_test.py -k by_bpf
"""


def make_root(root, mirror):
    run("debootstrap", "--foreign", "--arch", "arm64", "--variant=minbase",
        "--include=" + ",".join(PACKAGES), "bookworm", root, *([mirror] if mirror else []))
    for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
        run("dpkg", "-x", package, root)


def prepare(folder, filereel):
    shutil.copy(filereel, folder / "filereel")
    shutil.copy(os.path.join(HERE, "outline.py"), folder)
    tree = folder / "source/tree"
    for i in range(8):
        (tree / f"dir{i}/deep").mkdir(parents=True)
        for j in range(12):
            (tree / f"dir{i}/deep/file_{j}").write_bytes(bytes([i * 16 + j]) * (j * j * 97 + i))
        (tree / f"dir{i}/link").symlink_to("deep/file_1")
    run("tar", "cf", folder / "tree.tar", "--sort=name", "--owner=0", "--group=0", "-C",
        folder / "source", "tree")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.sh").write_text(text + "\n")


def must(*command, **more):
    print("==", *command, flush=True)
    return subprocess.run([str(one) for one in command], check=True, **more)


def record_here(folder, native):
    """The folders in which the programs worked."""
    places = {}
    for name in PROGRAMS:
        place = folder / "work" / name
        place.mkdir(parents=True)
        shutil.copy(folder / "tree.tar", place)
        must(native, "-q", "record", "-o", folder / f"x86_64-{name}.reel", "--", "sh",
             folder / f"{name}.sh", cwd=place, umask=0o022)
        (folder / f"x86_64-{name}.original").write_text("\n".join(outline(place)) + "\n")
        places[f"x86_64-{name}"] = str(place)
        places[f"aarch64-{name}"] = f"/tmp/disk/programs/{name}"
    return places


def replay_here(folder, native, places):
    for reel, place in places.items():
        target = folder / "target" / reel
        target.mkdir(parents=True)
        must(native, "-q", "replay", folder / f"{reel}.reel", target, "--verify", "tree")
        lines = outline(str(target) + place, content=True)
        (folder / f"{reel}.on-x86_64").write_text("\n".join(lines) + "\n")
        shutil.rmtree(target)


def without_content(lines):
    return [line.rsplit(" ", 1)[0] if " file " in line else line for line in lines]


def compare(folder, places):
    """The number of recordings whose trees differ."""
    failed = 0
    for reel in places:
        original, here, there = ((folder / f"{reel}.{what}").read_text().splitlines()
                                 for what in ("original", "on-x86_64", "on-aarch64"))
        good = here == there and without_content(here) == original and len(original) > 0
        failed += not good
        print(f"{reel}: {len(original)} entries: {'equal' if good else 'DIFFERENT'}")
    return failed


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=lambda path: pathlib.Path(path).absolute())
    for option, default in (("--filereel", "build/aarch64/filereel"),
                            ("--native", "build/release/filereel")):
        parser.add_argument(option, type=os.path.abspath, default=os.path.join(ROOT, default))
    parser.add_argument("--kernel", type=pathlib.Path)
    parser.add_argument("--keep", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--mirror", help="of Debian, for debootstrap")
    parser.add_argument("--seconds", type=float, default=5400)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("command", nargs="*")
    return parser.parse_intermixed_args()


def exchange(arguments, guest, folder, start):
    prepare(folder, arguments.filereel)
    places = record_here(folder, arguments.native)
    work = HEAD + FC_TEST
    work += "".join(RECORD.format(name=name) for name in PROGRAMS)
    work += STRACE
    work += "".join(REPLAY.format(reel=reel, folder=place) for reel, place in places.items())
    if arguments.calls:
        shutil.copytree(os.path.join(os.path.dirname(arguments.filereel), "tests/calls"),
                        folder / "calls")
        shutil.copytree(os.path.join(ROOT, "tests/integration"), folder / "integration")
        work += CALLS
    code = start(guest, work + "exit $failed\n")
    replay_here(folder, arguments.native, places)
    return compare(folder, places) or (1 if code is None else code)


def main():
    arguments = parse()
    if not arguments.root.exists():
        make_root(arguments.root, arguments.mirror)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary) / "exchange"
        folder.mkdir(parents=True)
        guest = Guest(processor="aarch64", root=str(arguments.root), modules=MODULES, optional=OPTIONAL,
                      seconds=arguments.seconds, shares={"/tmp/host": str(folder)})

        def start(guest, work):
            return boot(guest, arguments.kernel or arguments.root, work, temporary)

        if arguments.command:
            prepare(folder, arguments.filereel)
            quoted = subprocess.list2cmdline(arguments.command)
            code = start(guest, HEAD + f"must {quoted}\nexit $failed\n")
        else:
            code = exchange(arguments, guest, folder, start)
    sys.exit(1 if code is None else code)


if __name__ == "__main__":
    main()
