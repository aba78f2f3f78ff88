"""Where the reel is if the recorded program has removed, renamed or replaced its directory."""

import os
import pathlib
import stat
import sys
import unittest

from support import IntegrationTest, call, have, main, mount_image, no_bpf

NO_BPF = no_bpf()
ROOT = os.geteuid() == 0

# Looks for enough files that the reel needs more blocks, when there are none.
FILL = """
import os
with open("fill", "wb", buffering=0) as file:
    for size in (1 << 20, 4096, 1):
        try:
            while True:
                file.write(bytes(size))
        except OSError:
            pass
for i in range(3000):
    os.path.exists(os.urandom(16).hex())
"""


class ReelPlace:
    """What holds for both recorders. Each test works in `d`, and expects the reel elsewhere."""

    def record(self, script, *words, reel="x.reel", cwd=None, status=0, wrap=()):
        return self.filereel("record", "--backend", self.BACKEND, *words, "-o", reel, "--", "sh",
                             "-c", script, cwd=cwd or self.folder("d"), status=status, wrap=wrap)

    def assert_kept(self, done, path, reason):
        """One line says where the reel is and why; it is complete; nothing else was left."""
        lines = [line for line in done.err.splitlines() if "kept as" in line]
        self.assertEqual(len(lines), 1, done)
        self.assertTrue(lines[0].endswith(f"; kept as {path}"), done)
        self.assertIn(reason, lines[0])
        self.assertEqual(done.code, 0, done)
        self.assertIn("operations", self.filereel("show", path).out)
        self.assertTrue(stat.S_ISREG(os.lstat(path).st_mode))
        self.assertEqual(list(self.scratch.rglob(".filereel*")), [])
        self.assertEqual(self.leases(), [])

    def in_state(self, name="x.reel"):
        """The place of the last resort; empty after the test."""
        path = pathlib.Path(self.state, "kept", name)
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def small_ext4(self):
        point = self.scratch / "disk"
        mount_image(self.scratch / "image", point, 8)
        self.addCleanup(call, "umount", "-l", point, status=None)
        return point

    def test_a_renamed_working_directory_has_the_reel(self):
        done = self.record("cd ..; mv d e")
        self.assert_kept(done, self.scratch / "e/x.reel", "x.reel: its directory was renamed")
        self.assertRegex(done.err, f"(?m)^{self.scratch}/e/x.reel: [0-9]+ operations")

    def test_a_removed_working_directory_has_the_reel_beside_it(self):
        done = self.record("rm -rf ../d")
        self.assert_kept(done, self.scratch / "x.reel", "x.reel: its directory was removed")

    def test_quiet_does_not_hide_the_place(self):
        self.assert_kept(self.record("rm -rf ../d", "-q"), self.scratch / "x.reel", "removed")

    def test_several_removed_levels(self):
        (self.folder("a") / "b/c").mkdir(parents=True)
        done = self.record("rm -r a", reel="a/b/c/x.reel", cwd=self.scratch)
        self.assert_kept(done, self.scratch / "x.reel", "a/b/c/x.reel: its directory was removed")

    def test_a_directory_made_again_replaces_no_file(self):
        done = self.record("rm -r d; mkdir d; echo mine >d/x.reel", reel="d/x.reel",
                           cwd=self.folder("d").parent)
        self.assert_kept(done, self.scratch / "d/x-2.reel", "removed")
        self.assertEqual((self.scratch / "d/x.reel").read_text(), "mine\n")

    def test_a_file_in_place_of_the_directory(self):
        done = self.record("rm -r d; echo mine >d", reel="d/x.reel", cwd=self.folder("d").parent)
        self.assert_kept(done, self.scratch / "x.reel", "removed")
        self.assertEqual((self.scratch / "d").read_text(), "mine\n")

    def test_a_symbolic_link_in_place_of_the_directory_is_not_followed(self):
        self.folder("other")
        done = self.record("rm -r d; ln -s other d", reel="d/x.reel", cwd=self.folder("d").parent)
        self.assert_kept(done, self.scratch / "x.reel", "removed")
        self.assertEqual(list((self.scratch / "other").iterdir()), [])

    def test_a_renamed_directory_replaced_by_a_symbolic_link(self):
        self.folder("other")
        (self.folder("d") / "x.reel").write_text("the old one")
        done = self.record("mv d e; ln -s other d", reel="d/x.reel", cwd=self.scratch)
        self.assert_kept(done, self.scratch / "e/x.reel", "renamed")
        self.assertEqual(list((self.scratch / "other").iterdir()), [])

    def test_a_file_or_directory_that_took_the_name_stays(self):
        done = self.record("echo mine >x.reel")
        self.assert_kept(done, self.scratch / "d/x-2.reel", "another file has taken the name")
        self.assertEqual((self.scratch / "d/x.reel").read_text(), "mine\n")
        done = self.record("mkdir y.reel", reel="y.reel")
        self.assert_kept(done, self.scratch / "d/y-2.reel", "another file has taken the name")

    @unittest.skipUnless(ROOT, "needs root")
    def test_an_unmounted_file_system(self):
        disk = self.small_ext4()
        done = self.record(f"umount -l {disk}", reel=disk / "x.reel", cwd=self.scratch)
        self.assert_kept(done, disk / "x.reel", "no longer reachable")
        self.assertFalse(os.path.ismount(disk))

    @unittest.skipUnless(ROOT, "needs root")
    def test_a_full_file_system(self):
        disk = self.small_ext4()
        (self.scratch / "fill.py").write_text(FILL)
        done = self.record(f"{sys.executable} ../fill.py", cwd=disk)
        self.assert_kept(done, self.in_state(), "No space left on device")

    @unittest.skipUnless(ROOT, "needs root")
    def test_a_file_system_that_became_read_only_by_an_error(self):
        disk = self.small_ext4()
        call("mount", "-o", "remount,errors=remount-ro", disk)
        device = call("findmnt", "-n", "-o", "SOURCE", disk).strip()
        trigger = f"/sys/fs/ext4/{os.path.basename(device)}/trigger_fs_error"
        if not os.path.exists(trigger):
            self.skipTest("the kernel makes no errors of ext4 on request")
        done = self.record(f"echo test >{trigger}", reel=disk / "x.reel", cwd=self.scratch)
        self.assert_kept(done, self.in_state(), "Read-only file system")

    def test_a_working_directory_that_was_removed_before(self):
        for reel, status in [("x.reel", 1), (self.scratch / "x.reel", 0)]:
            gone = self.folder("gone")
            done = self.record("true", reel=reel, status=status, cwd=gone,
                               wrap=["sh", "-c", "rmdir ../gone; exec \"$@\"", "sh"])
            self.assertNotIn("kept as", done.err)
            self.assertNotIn("boost", done.err)

    @unittest.skipUnless(ROOT and have("chattr"), "needs root and chattr")
    def test_without_any_place_the_exit_code_is_1(self):
        (self.scratch / "file").write_text("")
        done = self.filereel("record", "--backend", self.BACKEND, "-o", "x.reel", "--", "chattr",
                             "+i", ".", cwd=self.folder("d"), status=None,
                             env=self.environment(FILEREEL_STATE_DIR=self.scratch / "file/state"))
        call("chattr", "-i", self.scratch / "d")
        self.assertEqual(done.code, 1, done)
        self.assertIn("x.reel: cannot move the new file into place: ", done.err)
        self.assertEqual(list((self.scratch / "d").iterdir()), [])


@unittest.skipIf(NO_BPF, NO_BPF)
class ReelPlaceByBpf(ReelPlace, IntegrationTest):
    BACKEND = "bpf"


@unittest.skipUnless(have("strace"), "needs strace")
class ReelPlaceByStrace(ReelPlace, IntegrationTest):
    BACKEND = "strace"


@unittest.skipUnless(ROOT and have("unshare", "setpriv"), "needs root, unshare, setpriv")
class WithoutProc(IntegrationTest):
    """An import, because recorders need /proc: its input waits until the test has had its turn."""

    TRACE = '1 1.{:06} openat(AT_FDCWD, "a", O_RDONLY) = 3 <0.1>\n'

    def imported(self, script, *wrap):
        """Imports into d/x.reel, without /proc; the script runs before the end of the trace."""
        self.folder("d")
        os.chmod(self.scratch, 0o777)
        os.chmod(self.scratch / "d", 0o777)
        (self.scratch / "trace").write_text("".join(map(self.TRACE.format, range(40000))))
        os.mkfifo(self.scratch / "pipe")
        os.chmod(self.scratch / "pipe", 0o666)
        feed = f"(exec >pipe; cat trace; sleep 0.5; {script}) & umount -l /proc && exec \"$@\""
        started = self.start("import", "pipe", "--format", "strace", "-o", "d/x.reel",
                             wrap=["unshare", "--mount", *["sh", "-c", feed, "sh"], *wrap])
        return started.finish()

    def test_in_place_renamed_removed(self):
        for user in [(), ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")]:
            for script, path in [(":", "d/x.reel"), ("mv d e", "e/x.reel"), ("rm -r d", "x.reel")]:
                with self.subTest(user=user, script=script):
                    done = self.imported(script, *user)
                    self.assertEqual(done.code, 0, done)
                    self.assertTrue((self.scratch / path).is_file(), done)
                    self.assertEqual(f"; kept as {self.scratch / path}" in done.err, script != ":")
                    call("sh", "-c", "rm -rf d e x.reel pipe trace", cwd=self.scratch)


if __name__ == "__main__":
    main()
