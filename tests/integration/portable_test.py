"""The portable program: it needs no library of the system, works in a root directory that has nothing but itself
and a mkfs, and loads the system's MPI."""

import os
import re
import shutil
import subprocess
import unittest

from clients_test import ClientsTest
from support import IntegrationTest, call, find, have, main, needs, no_bpf

PORTABLE = os.environ.get("PORTABLE", "")
IN_ROOT = """set -e
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
exec chroot "$0" /filereel "$@"
"""


class PortableTest(IntegrationTest):

    def setUp(self):
        super().setUp()
        if not PORTABLE:
            self.skipTest("no portable program was built: a static library is missing or incomplete")


class File(PortableTest):

    @unittest.skipUnless(have("readelf"), "needs readelf")
    def test_it_names_no_loader_and_no_library(self):
        self.assertNotIn("INTERP", call("readelf", "--program-headers", PORTABLE))
        self.assertNotIn("NEEDED", call("readelf", "--dynamic", PORTABLE))

    def test_it_is_the_program_of_the_package(self):
        self.assertEqual(call(PORTABLE, "--version"), self.filereel("--version").out)
        self.assertEqual(call(PORTABLE, "list"), self.filereel("list").out)


class EmptyRoot(PortableTest):
    """A root directory with /proc, /sys, /dev, the program, and mkfs.ext4 with its libraries."""

    def setUp(self):
        super().setUp()
        self.root = self.scratch / "root"
        for name in ("proc", "sys", "dev", "place"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(PORTABLE, self.root / "filereel")
        maker = find("mkfs.ext4")
        for file in (maker, *re.findall(r"(/\S+) \(0x", call("ldd", maker))):
            target = self.root / file.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)

    def inside(self, *words, code=0):
        done = subprocess.run(["unshare", "--mount", "sh", "-c", IN_ROOT, str(self.root), *words],
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    @needs("ext4")
    def test_it_runs_fc_test_and_writes_a_report(self):
        table = self.inside("run", "--set", "mp3,iso", "--scale", "0.002", "--runs", "1", "--fs", "ext4", "--near",
                            "image:/place/near.img,size=300M", "--far", "image:/place/far.img,size=300M",
                            "--json", "/place/r.json")
        self.assertIn("ext4 (kernel driver)", table)
        self.inside("report", "/place/r.json", "-o", "/place/page.html")
        self.assertIn("Chart.js", (self.root / "place/page.html").read_text())

    @needs("ext4")
    def test_it_records_with_bpf_and_replays(self):
        if reason := no_bpf():
            self.skipTest(reason)
        self.inside("record", "--backend", "bpf", "-o", "/place/a.reel", "--",
                    "/filereel", "populate", "programs", "/place/tree", "--scale", "0.01")
        text = self.inside("replay", "/place/a.reel", "/place/again", "--verify", "tree")
        self.assertIn("the tree matches the trace", text)
        trees = [self.outline(self.root / name) for name in ("place/tree", "place/again/place/tree")]
        self.assertGreater(len(trees[0]), 80)
        self.assertEqual(*trees)

    def outline(self, top):
        return sorted((str(path.relative_to(top)), path.is_dir() or path.stat().st_size)
                      for path in top.rglob("*"))

    @needs()
    def test_the_doctor_names_the_missing_programs_for_all_package_managers(self):
        text = " ".join(self.inside("doctor").split())
        missing, commands = re.search(r"Not installed: (.*)\. To install: (.*)", text).groups()
        self.assertIn("mkfs.ntfs, ntfs-3g, mkfs.vfat, fusefat", missing)
        self.assertNotIn("mkfs.ext4", missing)
        for command in ("apt-get install ntfs-3g dosfstools", "dnf install ntfsprogs ntfs-3g dosfstools",
                        "pacman -S ntfsprogs ntfs-3g dosfstools", "zypper install ntfsprogs ntfs-3g",
                        "apk add ntfs-3g-progs ntfs-3g"):
            self.assertIn(command, commands)
        self.assertRegex(commands, r"dnf .*\(no package: fusefat, mount.exfat-fuse\) pacman")

    @needs()
    def test_a_missing_mpi_is_named_in_one_line(self):
        text = self.inside("run", "iso", "--near", "/place/t", "--clients", "mpi", code=1)
        self.assertRegex(text, r"\Afilereel: cannot load MPI: .*; install it\n\Z")


class PortableClients(PortableTest, ClientsTest):
    """It loads MPI by a program of its own (replay/bridge/)."""

    program = PORTABLE

    def test_the_figures_of_clients_add_up(self):
        _, result = self.measure(3, "mp3", "--scale", "0.01", "--near", "target", "--runs", "2", "--verify", "tree")
        self.check_sums(result, 3)
        for sample in self.samples(result):
            self.assertEqual(sample["tree"]["differences"], 0)
        self.assertFalse((self.scratch / "target").exists())

    def test_a_failure_of_one_client_ends_all_with_its_reason(self):
        commands = [self.command(1, "mp3", "--scale", "0.01", "--near", near, "--runs", "1")
                    for near in ("target", "/proc/target")]
        process = self.mpirun(*commands)
        output = process.communicate(timeout=110)[0]
        self.assertEqual(process.returncode, 1, output)
        self.assertRegex(output, r"client 1 \(.*\): ")
        self.assertFalse((self.scratch / "target").exists())


if __name__ == "__main__":
    main()
