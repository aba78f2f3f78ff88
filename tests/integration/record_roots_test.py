"""Recording where the root directory or the mounts are not those of the machine: in a chroot, in a
namespace of mounts and processes as containers have, and programs that go into one."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from support import FILEREEL, IntegrationTest, call, have, main, no_bpf, tree_shape, wait_until

NO_BPF = no_bpf()
SYSTEM = ["bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "etc"]
PRIVATE = ["unshare", "--mount", "--propagation", "unchanged"]
CONTAINER = ["unshare", "--mount", "--propagation", "unchanged", "--pid", "--fork", "--mount-proc"]


def can_unshare():
    return os.geteuid() == 0 and have("unshare", "chroot", "tar") and \
        subprocess.call([*CONTAINER, "true"], stderr=subprocess.DEVNULL) == 0


class Roots:
    """What holds for both recorders."""

    def setUp(self):
        super().setUp()
        self.root = self.folder("root")
        # A mount that is private: what is mounted below it is seen nowhere else.
        call("mount", "--bind", self.root, self.root)
        self.addCleanup(call, "umount", "-l", self.root)
        call("mount", "--make-private", self.root)
        self.work = self.folder("root/desk")
        source = self.folder("source")
        for i in range(40):
            (source / f"{i}").write_bytes(b"x" * (i * 321))
        call("tar", "cf", self.work / "a.tar", "-C", self.scratch, "source")
        (self.work / "out").mkdir()

    def enter_root(self):
        """The beginning of a shell script that makes a system of the folder, in private mounts."""
        lines = ["set -e", f"cd {self.root}"]
        for name in SYSTEM:
            if os.path.islink(f"/{name}"):
                lines.append(f"ln -sfn {os.readlink(f'/{name}')} {name}")
            elif os.path.isdir(f"/{name}"):
                lines.append(f"mkdir -p {name}; mount --bind /{name} {name}")
        for name in ("sys", "dev", "proc"):
            lines.append(f"mkdir -p {name}; mount --rbind /{name} {name}")
        shutil.copy(FILEREEL, self.root / "filereel")
        return "\n".join(lines) + "\n"

    def record(self, *program, filereel=FILEREEL):
        return f"{filereel} record --backend {self.BACKEND} -o app.reel -- " + " ".join(map(str, program))

    def check(self, script, unpacked="/desk/out", wrap=()):
        """The script leaves app.reel in self.work, whose replay makes its folder out at `unpacked` again."""
        done = subprocess.run([*wrap, "sh", "-c", script], capture_output=True, text=True,
                              env=self.environment(), timeout=100)
        self.assertEqual(done.returncode, 0, done)
        again = self.folder("again")
        replay = self.filereel("replay", self.work / "app.reel", again, "--verify", "tree")
        self.assertIn("tree", replay.out)
        self.assertEqual(tree_shape(f"{again}{unpacked}"), tree_shape(self.work / "out"))
        self.assertEqual(len(tree_shape(self.work / "out")), 41)
        return [path.name for path in again.iterdir()]

    def test_in_a_chroot_names_begin_at_its_root(self):
        inside = f"cd /desk; {self.record('tar', 'xf', 'a.tar', '-C', 'out', filereel='/filereel')}"
        names = self.check(f"{self.enter_root()}chroot . sh -c '{inside}'", wrap=PRIVATE)
        self.assertIn("desk", names)
        self.assertNotIn(self.scratch.parts[1], set(names) - set(SYSTEM))

    def test_a_program_in_a_chroot_has_names_that_begin_at_the_recorders_root(self):
        program = self.record("chroot", self.root, "tar", "xf", "/desk/a.tar", "-C", "/desk/out")
        self.check(f"{self.enter_root()}cd desk; {program}", f"{self.work}/out", PRIVATE)

    def small_root(self):
        """The beginning of a script that makes a system of bind mounts of single directories, and
        of files of its own in etc, so that it differs from the machine's."""
        lines = ["set -e", f"cd {self.root}", "mkdir -p usr etc", "mount --bind /usr usr",
                 "cp /etc/ld.so.cache etc"]
        for name in SYSTEM:
            if os.path.islink(f"/{name}"):
                lines.append(f"ln -sfn {os.readlink(f'/{name}')} {name}")
            elif name not in ("usr", "etc") and os.path.isdir(f"/{name}"):
                lines.append(f"mkdir -p {name}; mount --bind /{name} {name}")
        return "\n".join(lines) + "\n"

    def check_shell_in_root(self, place, *enter):
        """A shell with children in a root of bind mounts, entered from the directory `place`."""
        program = self.record(*enter, "/bin/sh", "-c", "'. /desk/make'")
        program = program.replace("app.reel", f"{self.work}/app.reel")
        # Nothing of it needs /proc, which is not there.
        (self.work / "make").write_text("""cd /desk
mkdir -p out/source
for i in $(seq 0 39); do echo $i >out/source/$i; done
stat $PWD >out/../x
rm x
""")
        self.check(f"{self.small_root()}cd {place}; {program}", f"{self.work}/out", PRIVATE)
        shown = self.filereel("show", self.work / "app.reel", "--operations").out
        doubled = f"{self.root}{self.root}"[1:]  # where the shell looks for its working directory
        self.assertEqual([line for line in shown.splitlines() if doubled in line and " open " in line],
                         [])

    def test_a_shell_in_a_chroot_of_bind_mounts_from_anywhere(self):
        for place, root in (("/", self.root), (self.scratch, "root"), (self.root, "."),
                            (f"{self.root}/usr", "..")):
            with self.subTest(place=place, root=root):
                shutil.rmtree(self.work / "out")
                (self.work / "out").mkdir()
                self.check_shell_in_root(place, "chroot", root)

    def test_a_shell_in_mounts_processes_and_a_root_of_its_own(self):
        for place, root in (("/", self.root), (self.scratch, "root")):
            with self.subTest(place=place, root=root):
                shutil.rmtree(self.work / "out")
                (self.work / "out").mkdir()
                self.check_shell_in_root(place, "unshare", "-mpf", "--root", root)

    def test_a_program_in_mounts_and_processes_of_its_own(self):
        program = self.record(*CONTAINER, "tar", "xf", "a.tar", "-C", "out")
        self.check(f"cd {self.work}; {program}", f"{self.work}/out")

    def test_a_program_in_mounts_of_its_own_within_a_chroot(self):
        inside = self.record(*PRIVATE, "tar", "xf", "a.tar", "-C", "out", filereel="/filereel")
        self.check(f"{self.enter_root()}chroot . sh -c 'cd /desk; {inside}'", wrap=PRIVATE)

    def test_a_process_outside_of_the_recorders_chroot_has_names_that_begin_at_its_own_root(self):
        ticking = subprocess.Popen([sys.executable, "-c", """
import time
while True:
    with open("ticks", "a") as ticks:
        ticks.write("x")
    time.sleep(0.02)
"""], cwd=self.scratch)
        self.addCleanup(ticking.wait)
        self.addCleanup(ticking.kill)
        self.assertTrue(wait_until((self.scratch / "ticks").exists, 20))
        record = f"cd /desk; /filereel record --backend {self.BACKEND} -o app.reel --pid " \
            f"{ticking.pid}"
        for duration in ("300ms", "3s", "30s"):
            script = f"{self.enter_root()}chroot . sh -c '{record} --duration {duration}'"
            done = subprocess.run([*PRIVATE, "sh", "-c", script], capture_output=True, text=True,
                                  env=self.environment(), timeout=100)
            self.assertEqual(done.returncode, 0, done)
            lines = self.filereel("show", self.work / "app.reel", "--operations").out.splitlines()
            opened = {line.split("path=")[1].split()[0] for line in lines
                      if " open " in line and "ticks" in line}
            if opened:
                break
        self.assertEqual(opened, {f"{self.scratch}/ticks"[1:]})


@unittest.skipUnless(can_unshare(), "needs root, unshare, chroot and tar")
@unittest.skipIf(NO_BPF, NO_BPF)
class RootsByBpf(Roots, IntegrationTest):
    BACKEND = "bpf"


@unittest.skipUnless(can_unshare(), "needs root, unshare, chroot and tar")
@unittest.skipUnless(have("strace"), "needs strace")
class RootsByStrace(Roots, IntegrationTest):
    BACKEND = "strace"

    def test_filereel_in_a_container(self):
        inside = self.record("tar", "xf", "a.tar", "-C", "out")
        self.check(f"cd {self.work}; {inside}", f"{self.work}/out", CONTAINER)


if __name__ == "__main__":
    main()
