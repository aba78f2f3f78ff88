"""What filereel did not make is neither removed nor changed, whatever happens and whoever helps."""

import contextlib
import ctypes
import multiprocessing
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import time
import unittest

from support import (FILEREEL, IntegrationTest, call, digest, find, forgetting, have, main, needs,
                     needs_share, processes_with, tree_digests, wait_until)

MAKE_REELS = os.environ.get("MAKE_REELS", "make_reels")
SMALL = ["--set", "programs", "--scale", "0.001", "--runs", "1", "-q"]
AT_FDCWD, RENAME_EXCHANGE = -100, 2
MIB = 1 << 20


def exchange(one, other):
    """renameat2(2): each takes the other's name at once."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), f"cannot exchange {one} and {other}")


def exchange_until(stop, count, one, other):
    while not stop.is_set():
        exchange(one, other)
        count.value += 1
        time.sleep(0.0002)


@contextlib.contextmanager
def exchanging(one, other):
    """Exchanges two directories all the time; gives the number of exchanges so far."""
    stop, count = multiprocessing.Event(), multiprocessing.Value("L", 0, lock=False)
    process = multiprocessing.Process(target=exchange_until, args=(stop, count, one, other))
    process.start()
    try:
        yield count
    finally:
        stop.set()
        process.join()


class Own(IntegrationTest):

    def run_on(self, *targets, **options):
        return self.filereel("run", *targets, *SMALL, status=None, **options)

    def precious(self, folder):
        """A tree of the user's with the names that filereel uses."""
        for name in ("original", "copy", "original/programs", "home"):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / "letter").write_text(f"mine in {name}")
        return tree_digests(folder)

    def own_image(self, path, text="mine"):
        """An ext4 of the user's with a file in it."""
        with open(path, "wb") as file:
            file.truncate(320 * MIB)
        call("mkfs.ext4", "-q", "-F", "-L", "FILEREEL", path)
        return digest(path)

    def deep_reel(self, levels):
        """Of directories, each in the one before."""
        path, lines = "", []
        for number in range(levels):
            path += "/d"
            lines.append(f"{1.7e9 + number:.6f} mkdir(\"{path}\", 0755) = 0 <0.000010>\n")
        (self.scratch / "deep.strace").write_text("".join(lines))
        self.filereel("import", "deep.strace", "-o", "deep.reel")
        return self.scratch / "deep.reel"

    def make_reel(self):
        call(MAKE_REELS, "timed", "50", "1", self.scratch / "a.reel")
        return self.scratch / "a.reel"


@needs_share
class Shares(Own):
    """On sshfs, inode numbers are new each time it is mounted, and a hard link has another one."""

    def kill_run_on_share(self, folder=""):
        """Gives its work directory. Kills its janitor, too, which would remove that a moment later."""
        with self.share() as (point, served):
            self.kill_run_on(point / folder)
            work = next(served.rglob(".filereel-*"))
        for process in processes_with(self.base):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return work

    def shift_inodes(self, point):
        """So that nothing gets the number that it had before."""
        for number in range(3):
            (point / f"n{number}").mkdir()
            (point / f"n{number}").rmdir()

    def test_what_was_kept_is_cleared_and_kept_again(self):
        for _ in range(2):
            with self.share() as (point, served):
                for _ in range(2):
                    self.assertEqual(self.run_on("--near", point, "--keep").code, 0)
                self.assertEqual(self.leases(), [("kept", "tree", str(point))])
        (served / "copy" / "mine").write_text("mine")
        with self.share() as (point, served):
            self.assert_refused(self.run_on("--near", point), 1, "copy/mine")
        self.assertEqual((served / "copy" / "mine").read_text(), "mine")

    def test_what_was_kept_in_a_new_folder_of_it_too(self):
        for _ in range(2):
            with self.share() as (point, _):
                self.shift_inodes(point)
                self.assertEqual(self.run_on("--near", point / "new", "--keep").code, 0)
                self.assertEqual(self.leases(), [("kept", "tree", str(point / "new"))])

    def test_what_a_killed_run_left_goes_after_the_next_mount(self):
        work = self.kill_run_on_share()
        self.assertEqual([state for state, _, _ in self.leases()], ["offline"])
        with self.share() as (point, served):
            self.shift_inodes(point)
            self.assertEqual(self.leases(), [("left", "work directory", str(point / work.name))])
            self.assertIn("removed", self.filereel("clean").out)
            self.assertEqual(os.listdir(served), [])
        self.assertEqual(self.leases(), [])

    def test_the_next_run_goes_on_where_one_was_killed_in_a_new_folder(self):
        self.kill_run_on_share("new")
        with self.share() as (point, served):
            self.shift_inodes(point)
            self.assertEqual([state for state, _, _ in self.leases()], ["left", "left"])
            self.assertEqual(self.run_on("--near", point / "new").code, 0)
            self.assertEqual(os.listdir(served), [])

    def test_what_takes_the_place_of_the_work_stays(self):
        outside = self.folder("outside")
        (outside / "letter").write_text("mine")

        def folder(work, _):
            work.mkdir()
            (work / "letter").write_text("mine")

        def link(work, _):
            work.symlink_to(outside)

        def marked_for_another(work, moved):
            folder(work, moved)
            (work / ("0" * 32)).mkdir()
            (work / ("0" * 32) / "letter").write_text("mine")

        def linked_mark(work, moved):
            work.mkdir()
            (work / os.listdir(moved)[0]).symlink_to(outside)

        def more_in_it(work, moved):
            moved.rename(work)
            (work / "letter").write_text("mine")
        for put in (folder, link, marked_for_another, linked_mark, more_in_it):
            with self.subTest(put.__name__):
                work = self.kill_run_on_share()
                moved = work.with_name("moved")
                work.rename(moved)
                put(work, moved)
                with self.share() as (point, served):
                    self.filereel("clean")
                    self.assert_refused(self.run_on("--near", point), 1, "not empty")
                letters = [path for path in served.rglob("letter")]
                self.assertEqual(len(letters), {folder: 1, marked_for_another: 2, more_in_it: 1}.get(put, 0))
                self.assertTrue(os.path.lexists(work))
                self.assertEqual((outside / "letter").read_text(), "mine")
                shutil.rmtree(served)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_is_mounted_on_what_a_killed_run_left_stays(self):
        outside = self.folder("outside")
        (outside / "letter").write_text("mine")
        work = self.kill_run_on_share()
        with self.share() as (point, _):
            inner = self.work_folder(point)
            self.assertEqual(inner.parent.name, work.name)
            call("mount", "--bind", outside, inner)
            try:
                self.filereel("clean", status=None)
                self.assertEqual((outside / "letter").read_text(), "mine")
            finally:
                call("umount", inner)

    def test_a_share_and_what_its_server_shares_are_one_volume(self):
        with self.share() as (point, served):
            for near, far in (point, served), (served, point):
                refused = self.run_on("--near", near, "--far", far)
                self.assert_refused(refused, 2, "are the same volume", near, far)
                self.assertEqual(os.listdir(served), [])

    @needs("ext4")
    def test_an_image_that_was_kept_on_it_is_replaced(self):
        for _ in range(2):
            with self.share() as (point, _):
                self.shift_inodes(point)
                run = ("--near", f"image:{point}/a.img,size=32M", "--fs", "ext4", "--keep")
                self.assertEqual(self.run_on(*run).code, 0)
                self.assertEqual(self.leases(), [("kept", "image", str(point / "a.img"))])


class ForgottenShares(Shares):
    """With other inode numbers from one call to the next."""

    def setUp(self):
        super().setUp()
        self.enterContext(forgetting())


class Races(Own):
    """Somebody exchanges the target with a directory of the user's all the time."""

    EXCHANGES, ATTEMPTS = 1000, 20

    def check_race(self, fill, attempt):
        """`fill` puts something of the user's into a directory and returns what reads it again."""
        target, other = self.folder("target"), self.folder("other")
        read = fill(other)
        before = read(other)
        exchanges, codes = 0, []
        while exchanges < self.EXCHANGES or len(codes) < self.ATTEMPTS:
            with exchanging(target, other) as count:
                codes.append(attempt(target).code)
            exchanges += count.value
            self.assertIn(codes[-1], (0, 1))
            self.assertIn(before, [read(target), read(other)])
            mine = target if read(target) == before else other
            call("find", other if mine == target else target, "-mindepth", "1", "-delete")
        print(f"{exchanges} exchanges, {codes.count(0)} of {len(codes)} attempts went through",
              flush=True)

    def fill(self, folder):
        self.precious(folder)
        return tree_digests

    def test_a_directory_that_is_exchanged_during_a_run_is_not_cleared(self):
        self.check_race(self.fill, lambda target: self.run_on("--near", target))

    def test_a_directory_that_is_exchanged_during_a_replay_is_not_cleared(self):
        reel = self.make_reel()
        self.check_race(self.fill, lambda target: self.filereel("replay", reel, target, "--remove",
                                                                status=None))

    def test_a_directory_that_is_exchanged_while_a_set_is_made_is_not_touched(self):
        self.check_race(self.fill, lambda target: self.filereel("populate", "mp3", target, "--scale",
                                                                "0.001", status=None))

    @needs("ext4")
    def test_an_image_that_is_exchanged_during_a_run_is_not_formatted(self):
        def fill(folder):
            self.own_image(folder / "a.img")
            return lambda place: (place / "a.img").exists() and digest(place / "a.img")
        self.check_race(fill, lambda target: self.run_on("--near", f"image:{target}/a.img", "--fs",
                                                         "ext4"))


class Directories(Own):

    def test_what_the_user_puts_where_a_replay_was_kept_stays(self):
        reel, target = self.make_reel(), self.scratch / "kd"
        self.filereel("replay", reel, target)
        self.precious(target)
        before = tree_digests(target)
        for refused in (self.run_on("--near", target),
                        self.filereel("replay", reel, target, status=None)):
            self.assert_refused(refused, 1, target)
            self.assertEqual(tree_digests(target), before)

    def test_what_the_user_puts_where_a_run_was_kept_stays(self):
        target = self.folder("kd")
        self.assertEqual(self.run_on("--near", target, "--keep").code, 0)
        (target / "copy" / "mine").write_text("mine")
        before = tree_digests(target)
        self.assert_refused(self.run_on("--near", target), 1, "copy/mine")
        self.assertEqual(tree_digests(target), before)

    def test_what_the_user_puts_where_a_run_was_killed_stays(self):
        target = self.folder("kd")
        self.kill_run_on(target)
        before = self.precious(target) and tree_digests(target / "original")
        self.assert_refused(self.run_on("--near", target), 1, target, "not empty")
        self.assertEqual(tree_digests(target / "original"), before)

    def test_markers_prove_nothing(self):
        """Nor do they as links or devices."""
        target, outside = self.folder("target"), self.folder("outside")
        (target / "home").mkdir()
        (target / "home" / "letter").write_text("mine")
        (outside / "letter").write_text("mine")
        marker = target / ".filereel-volume"

        def write():
            marker.write_text("filereel works here.\nhome\n")

        def link():
            os.link(outside / "letter", marker)

        def device():
            os.mknod(marker, stat.S_IFBLK | 0o600, os.makedev(7, 200))
        for make in (write, link, device) if os.geteuid() == 0 else (write, link):
            with self.subTest(make.__name__):
                marker.unlink(missing_ok=True)
                make()
                before = os.lstat(marker)
                self.assert_refused(self.run_on("--near", target), 1, target, "earlier version")
                self.assertEqual((target / "home" / "letter").read_text(), "mine")
                self.assertEqual((outside / "letter").read_text(), "mine")
                after = os.lstat(marker)
                self.assertEqual((after.st_ino, after.st_mode, after.st_size, after.st_nlink),
                                 (before.st_ino, before.st_mode, before.st_size, before.st_nlink))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_is_mounted_where_a_replay_was_kept_stays(self):
        reel, target, outside = self.deep_reel(3), self.scratch / "kd", self.folder("outside")
        self.filereel("replay", reel, target)
        before = self.precious(outside)
        point = target / "d" / "d"
        call("mount", "--bind", outside, point)
        try:
            refused = self.filereel("replay", reel, target, status=None)
            self.assertEqual(tree_digests(outside), before)
            self.assert_refused(refused, 1, "mounted", point)
        finally:
            call("umount", point)
        self.assertEqual(tree_digests(outside), before)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_is_mounted_in_the_work_during_a_run_stays(self):
        target, outside = self.folder("target"), self.folder("outside")
        before = self.precious(outside)
        for attempt in range(8):
            running = self.start("run", "--near", target, "--set",
                                 self.many_small_files(500 << attempt), "--runs", "3")
            work = [None]

            def begun():
                work[0] = self.work_folder(target) / "copy"
                return work[0].exists() or running.ended()
            wait_until(begun, 60, 0.001)
            running.kill(signal.SIGSTOP)
            if work[0].exists():
                break
            running.kill(signal.SIGCONT)
            running.finish()
        call("mount", "--bind", outside, work[0])
        try:
            running.kill(signal.SIGCONT)
            running.finish()
            self.assertEqual(tree_digests(outside), before)
        finally:
            call("umount", "-l", work[0], status=None)
        self.assertEqual(tree_digests(outside), before)
        self.filereel("clean")

    def test_a_new_directory_and_all_in_it_go_after_a_kill(self):
        target = self.scratch / "new"
        self.kill_run_on(target)
        self.assertEqual({kind for _, kind, _ in self.leases()},
                         {"directory", "work directory"})
        self.assertEqual(self.run_on("--near", self.folder("other")).code, 0)
        self.assertFalse(target.exists())
        self.assertEqual(self.leases(), [])

    def test_a_set_of_which_making_was_killed_can_be_made(self):
        target = self.scratch / "new"
        for attempt in range(8):
            running = self.start("populate", self.many_small_files(500 << attempt), target)
            wait_until(lambda: self.work_folder(target).exists() or running.ended(), 60, 0.0005)
            running.kill()
            if running.finish().code == -signal.SIGKILL:
                break
            call("rm", "-rf", target)
        self.filereel("populate", "mp3", target, "--scale", "0.001")
        self.assertEqual(os.listdir(target), ["mp3"])

    def test_a_tree_of_more_levels_than_files_may_be_open_is_removed(self):
        self.deep_reel(2000)
        target = self.folder("target")
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))  # noqa: E731
        for options in (["--remove"], ["--keep"], ["--remove"]):
            done = subprocess.run([FILEREEL, "-q", "replay", "deep.reel", target, *options],
                                  cwd=self.scratch, env=self.environment(), preexec_fn=few,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(os.listdir(target), [])

    def test_a_device_that_does_not_exist_is_not_made_a_directory(self):
        for words in (["--near", "/dev/nosuchdisk"],
                      ["--near", "/dev/nosuchdisk", "--destroy", "/dev/nosuchdisk"],
                      ["--near", self.folder("a"), "--destroy", "/dev/nosuchdisk"]):
            self.assert_refused(self.run_on(*words), 2, "/dev/nosuchdisk")
            self.assertFalse(os.path.exists("/dev/nosuchdisk"))


    def test_a_file_beside_the_work_of_a_replay_that_is_kept_stays(self):
        reel, target = self.deep_reel(40), self.scratch / "kd"
        running = self.start("replay", reel, target, "--pace", "20x")
        self.assertTrue(wait_until(lambda: (self.work_folder(target) / "d").exists(), 30, 0.001))
        (target / "mine").write_text("mine")
        self.assertEqual(running.finish().code, 0)
        self.assert_refused(self.filereel("replay", reel, target, status=None), 1, "mine")
        self.assertEqual((target / "mine").read_text(), "mine")

    def test_a_result_in_the_volume_is_refused(self):
        target = self.folder("target")
        for words in (["--near", target, "--json", target / "r.json"],
                      ["--near", target, "--html", "target/../target/r.html"],
                      ["--near", "image:a.img", "--json", "a.img"]):
            self.assert_refused(self.run_on(*words), 2, "inside the volume")
        self.assertEqual(os.listdir(target), [])


class Images(Own):

    def killed_run(self, image):
        for attempt in range(8):
            running = self.start("run", "--near", f"image:{image}", "--fs", "ext4", "--set",
                                 self.many_small_files(500 << attempt), "--runs", "1")
            wait_until(lambda: running.ended() or
                       os.path.isdir(running.mount_point() + "/original"), 60, 0.001)
            running.kill()
            if running.finish().code == -signal.SIGKILL:
                return

    @needs("ext4")
    def test_a_file_with_the_inode_number_of_an_image_stays(self):
        with self.ext4_volume(64, make=("-N", "64")) as volume:  # so that numbers come back
            image = volume / "k.img"
            run = ["--near", f"image:{image},size=20M", "--fs", "ext4"]
            for killed in (True, False):
                self.assertEqual(self.run_on(*run).code, 0)
                number = image.stat().st_ino
                if killed:
                    self.killed_run(f"{image},size=20M")
                    wait_until(lambda: not self.left_behind(), 5)
                image.unlink(missing_ok=True)
                for name in range(50):
                    one = volume / f"n{name}"
                    one.write_text("mine")
                    if one.stat().st_ino == number:
                        break
                self.assertEqual(one.stat().st_ino, number)
                one.rename(image)
                self.assert_refused(self.run_on(*run), 1, image)
                self.assertEqual(image.read_text(), "mine")
                call("find", volume, "-type", "f", "-delete")

    @needs("ext4")
    def test_an_image_that_was_kept_is_the_users_once_it_was_changed(self):
        image, saved = self.scratch / "k.img", self.scratch / "saved.img"

        def mount():
            with self.mounted("ext4", image, read_only=False) as point:
                (point / "letter").write_text("mine")

        def copy_back():
            shutil.copy2(image, saved)
            image.unlink()
            shutil.copy2(saved, image)

        def restore():
            shutil.copy2(image, saved)
            content = saved.read_bytes()
            times = image.stat()
            with open(image, "r+b") as file:  # the same inode
                file.write(content)
            os.utime(image, ns=(times.st_atime_ns, times.st_mtime_ns))

        def rename():
            image.rename(saved)
            saved.rename(image)

        def second_name():
            os.link(image, self.scratch / f"name {time.monotonic_ns()}")
        for change in (mount, copy_back, restore, rename, second_name):
            with self.subTest(change.__name__):
                image.unlink(missing_ok=True)
                for _ in range(2):  # the second takes the place of the first
                    done = self.run_on("--near", f"image:{image},size=20M", "--fs", "ext4")
                    self.assertEqual(done.code, 0, done)
                change()
                before = digest(image)
                self.assert_refused(self.run_on("--near", f"image:{image},size=20M", "--fs",
                                                "ext4"), 1, image)
                self.assertEqual(digest(image), before)

    @needs("ext4")
    def test_a_label_proves_nothing(self):
        image = self.scratch / "a.img"
        before = self.own_image(image)
        self.assert_refused(self.run_on("--near", f"image:{image}", "--fs", "ext4"), 1, image)
        self.assertEqual(digest(image), before)

    @needs("ext4")
    def test_a_file_that_takes_the_name_of_an_image_of_a_run_without_targets_stays(self):
        for name in ("filereel-near.img", "filereel-far.img"):
            running = self.start("run", "--fs", "ext4", "--set", self.many_small_files(1000),
                                 "--runs", "2", "--json", "r.json")
            wait_until(lambda: self.steps_measured() >= 1 or running.ended(), 60, 0.001)
            mine = self.scratch / name
            mine.unlink(missing_ok=True)
            mine.write_text("mine")
            self.assertEqual(running.finish().code, 0)
            self.assertEqual(mine.read_text(), "mine")

    @needs("ext4")
    def test_a_lease_of_an_earlier_version_beside_an_image_stays(self):
        image, outside = self.scratch / "n.img", self.scratch / "outside"
        outside.write_text("mine")
        for make in (lambda path: path.write_text("mine"), lambda path: os.link(outside, path)):
            old = self.scratch / "n.img.filereel"
            make(old)
            self.assertEqual(self.run_on("--near", f"image:{image}", "--fs", "ext4").code, 0)
            self.assertEqual((old.read_text(), outside.read_text()), ("mine", "mine"))
            old.unlink()


class Devices(Own):

    def run_on_device(self, device):
        return self.run_on("--near", device, "--fs", "ext4", "--destroy", device)

    def disk(self):
        with open(self.scratch / "disk", "wb") as file:
            file.truncate(64 * MIB)
        return self.scratch / "disk"

    @needs("ext4")
    def test_a_device_below_or_beside_a_mounted_loop_device_is_refused(self):
        point = self.folder("point")
        with self.loop(self.disk()) as device:
            for other in (self.scratch / "disk", device):
                with self.subTest(other=other), self.loop(other) as above:
                    call("mkfs.ext4", "-q", "-F", above)
                    call("mount", above, point)
                    try:
                        (point / "letter").write_text("mine")
                        self.assert_refused(self.run_on_device(device), 1, device, above)
                        self.assertEqual((point / "letter").read_text(), "mine")
                    finally:
                        call("umount", point)

    @needs("fat32")
    @unittest.skipUnless(have("fusefat"), "needs fusefat")
    def test_a_device_that_a_fuse_driver_serves_is_refused(self):
        """One that does not say what it has mounted."""
        point = self.folder("point")
        with self.loop(self.disk()) as device:
            call("mkfs.vfat", device)
            driver = subprocess.Popen([find("fusefat"), "-o", "rw+", "-f", device, point],
                                      env=self.environment(), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            try:
                self.assertTrue(wait_until(lambda: os.path.ismount(point), 10))
                self.assert_refused(self.run_on_device(device), 1, device, "fusefat")
            finally:
                call("umount", point, status=None)
                driver.wait(30)


class Leftovers(Own):

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_is_named_like_a_mount_point_stays(self):
        """With the number of a process that has ended."""
        folder = self.folder("tmp")
        ended = subprocess.Popen(["true"])
        ended.wait()
        state = pathlib.Path(self.state)
        self.filereel("clean")  # which makes it
        points = [folder / f"filereel-mount-{ended.pid}-near-abcdef",
                  state / f"mount-{ended.pid}-near-{'0' * 32}"]
        for point in points:
            point.mkdir()
            call("mount", "-t", "tmpfs", "none", point)
            (point / "letter").write_text("mine")
        try:
            self.assertEqual(self.run_on("--near", self.folder("near"),
                                         env=self.environment(TMPDIR=str(folder))).code, 0)
            self.filereel("clean")
            for point in points:
                self.assertEqual((point / "letter").read_text(), "mine")
        finally:
            for point in points:
                call("umount", point)
                point.rmdir()

    def test_no_part_of_a_result_is_left_by_a_kill(self):
        near = self.folder("near")
        for attempt in range(20):
            running = self.start("run", "--near", near, "--set", self.many_small_files(200),
                                 "--runs", "50", "--json", "r.json")
            wait_until(lambda: self.steps_measured() >= 1 or running.ended(), 60, 0.0005)
            time.sleep(0.002 * attempt)
            running.kill()
            running.finish()
            self.filereel("clean")
            self.assertEqual(sorted(os.listdir(self.scratch)), ["near", "r.json", "set.yaml"])
            self.assertEqual(os.listdir(near), [])
            self.assertEqual(self.leases(), [])

    @unittest.skipUnless(have("strace"), "needs strace")
    def test_nothing_is_left_by_a_kill_while_an_output_file_is_replaced(self):
        """Wherever it comes: between any two steps."""
        reel, folder = self.make_reel(), self.folder("out")
        export = ["export", reel, "--format", "jsonl", "-o", folder / "out"]
        self.filereel(*export)
        before = digest(folder / "out")
        for calls in ("linkat", "rename,renameat"):
            for number in range(1, 10):
                kill = f"inject={calls}:signal=KILL:when={number}"
                done = self.filereel(*export, status=None, wrap=(
                    find("strace"), "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", kill))
                self.filereel("clean")
                self.assertEqual(os.listdir(folder), ["out"])
                self.assertEqual(digest(folder / "out"), before)
                if done.code == 0:
                    break
            self.assertEqual(done.code, 0)
            self.assertGreater(number, 2)

    def test_clean_removes_what_was_left_and_lists_what_was_kept(self):
        kept = self.folder("kept")
        self.assertEqual(self.run_on("--near", kept, "--keep").code, 0)
        self.assertEqual(self.leases(), [("kept", "tree", str(kept))])
        self.assertEqual(self.filereel("clean").out, "nothing to remove\n")
        self.assertTrue((kept / "copy").exists())
        shutil.rmtree(kept)
        self.assertEqual(self.leases(), [("gone", "tree", str(kept))])


if __name__ == "__main__":
    main()
