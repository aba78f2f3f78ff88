"""Reels made by somebody who means harm: nothing outside the target changes, memory stays bounded,
and what cannot be used is refused in one line."""

import os
import pathlib
import stat
import subprocess
import unittest

from support import FILEREEL, IntegrationTest, call, main

MAKE_REELS = os.environ.get("MAKE_REELS", "make_reels")
MOST_MEMORY = 800 << 20  # bytes, of a replay of whatever reel; its names may take 256 MiB
FORGED = sorted((pathlib.Path(__file__).resolve().parents[1] / "fuzz/corpus/reel").glob("bad-*"))
ATTACKS = call(MAKE_REELS, "names").split() if os.path.exists(MAKE_REELS) else []


def state_of(folder):
    """All that could be seen to change below the folder."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files + ["."]:
            path = os.path.join(parent, name)
            info = os.lstat(path)
            content = pathlib.Path(path).read_bytes() if stat.S_ISREG(info.st_mode) else b""
            attributes = os.listxattr(path, follow_symlinks=False)
            found[path] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_nlink, content,
                           tuple(attributes))
    return found


@unittest.skipUnless(ATTACKS, "needs make_reels")
class HostileReels(IntegrationTest):

    memory = 300  # a reel writes all that one call may

    def measured(self, *arguments):
        """Runs filereel; gives its exit, its lines of error, and its greatest memory."""
        with open(self.scratch / "out", "wb") as out, open(self.scratch / "err", "wb") as err:
            process = subprocess.Popen([FILEREEL, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, cwd=self.scratch,
                                       env=self.environment())
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        lines = (self.scratch / "err").read_text(errors="replace").splitlines()
        return process.returncode, lines, usage.ru_maxrss << 10

    def outside(self):
        outside = self.folder("outside")
        (outside / "precious").write_text("as it was")
        (outside / "folder").mkdir()
        os.chmod(outside / "precious", 0o640)
        return outside

    def test_nothing_outside_the_target_changes(self):
        outside = self.outside()
        before = state_of(outside)
        for name in ATTACKS:
            with self.subTest(name):
                reel, target = self.scratch / "x.reel", self.scratch / f"target-{name}"
                call(MAKE_REELS, "hostile", name, outside, reel)
                code, lines, memory = self.measured("--quiet", "replay", reel, target)
                print(f"{name}: exit {code}, {memory >> 20} MiB, {lines[-1:]}", flush=True)
                self.assertIn(code, (0, 1, 3), lines)
                if code != 0:
                    self.assertEqual(len(lines), 1, lines)
                    self.assertTrue(lines[0].startswith("filereel: "), lines)
                self.assertLess(memory, MOST_MEMORY)
                self.assertEqual(state_of(outside), before)
                self.check_tame(target)
                call("rm", "-rf", reel, target)

    def test_what_no_writer_makes_is_refused_before_anything_is_touched(self):
        self.assertGreater(len(FORGED), 15)
        for reel in FORGED:
            with self.subTest(reel.name):
                target = self.scratch / f"target-{reel.stem}"
                code, lines, memory = self.measured("--quiet", "replay", reel, target)
                print(f"{reel.name}: {memory >> 20} MiB, {lines[-1:]}", flush=True)
                self.assertEqual(code, 3, lines)
                self.assertEqual(len(lines), 1, lines)
                self.assertLess(memory, MOST_MEMORY)
                self.assertFalse(target.exists())

    def check_tame(self, target):
        """No devices and no set-ID bits below it, if anything was kept there."""
        if not target.exists():
            return
        for _, folders, files, here in os.fwalk(target):
            for name in folders + files:
                mode = os.lstat(name, dir_fd=here).st_mode
                self.assertFalse(stat.S_ISBLK(mode) or stat.S_ISCHR(mode), name)
                self.assertFalse(mode & 0o6000 and not stat.S_ISDIR(mode), name)

    def test_any_damage_is_read_as_a_shorter_reel_or_refused_in_one_line(self):
        reel = self.scratch / "good.reel"
        call(MAKE_REELS, "timed", "200", "1", reel)
        whole = reel.read_bytes()
        for size in [0, 1, 7, 8, 40, len(whole) // 2, len(whole) - 40, len(whole) - 1]:
            (self.scratch / "torn.reel").write_bytes(whole[:size])
            self.check_shown_or_refused(f"cut to {size}")
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            bad = bytearray(whole)
            bad[at] ^= 0x55
            (self.scratch / "torn.reel").write_bytes(bad)
            self.check_shown_or_refused(f"byte {at} changed")

    def check_shown_or_refused(self, what):
        code, lines, memory = self.measured("--quiet", "show", "torn.reel")
        self.assertIn(code, (0, 3), (what, lines))
        if code == 3:
            self.assertEqual(len(lines), 1, (what, lines))
        self.assertLess(memory, MOST_MEMORY, what)

    def test_a_long_reel_replays_in_bounded_memory(self):
        reel = self.scratch / "long.reel"
        call(MAKE_REELS, "long", "4000000", reel)
        code, lines, memory = self.measured("replay", reel, "--engine", "null")
        self.assertEqual(code, 0, lines)
        print(f"4 million operations: {memory >> 20} MiB", flush=True)
        self.assertLess(memory, 300 << 20)


if __name__ == "__main__":
    main()
