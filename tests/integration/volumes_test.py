"""Volumes that are full, vanish, or belong to somebody else: one line, and nothing lost."""

import contextlib
import os
import re
import signal
import subprocess
import unittest

from support import (IntegrationTest, attached_loops, call, digest, find, have, in_chroot, main, needs,
                     tree_digests, wait_until)

MIB = 1 << 20


def may_use_swap():
    return (os.geteuid() == 0 and have("mkswap", "swapon", "swapoff")
            and os.path.exists("/proc/swaps"))


def has_device_mapper():
    return have("dmsetup") and subprocess.call([find("dmsetup"), "ls"], stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL) == 0


class FullVolumes(IntegrationTest):

    @needs("ext4")
    def test_a_set_that_has_no_room_in_a_directory_is_refused_before_it_begins(self):
        with self.ext4_volume(64) as volume:
            before = os.statvfs(volume).f_bfree
            finished = self.filereel("run", "--near", volume, "--set", "programs", "--runs", "1",
                                     "--json", "r.json", status=None)
            self.assert_refused(finished, 1, volume, "not enough space", "programs")
            # Nothing was measured: a result of that name from before would still be there.
            self.assertFalse((self.scratch / "r.json").exists())
            self.assertEqual(os.listdir(volume), ["lost+found"])
            self.assertEqual(os.statvfs(volume).f_bfree, before)

    @needs("ext4")
    def test_a_set_that_has_no_room_in_an_image_is_refused_before_it_begins(self):
        finished = self.filereel("run", "--near", "image:a.img,size=64M", "--fs", "ext4", "--set",
                                 "programs", "--runs", "1", status=None)
        self.assert_refused(finished, 1, "a.img", "not enough space")
        self.assert_nothing_left()

    @needs("ext4")
    def test_a_volume_with_too_few_inodes_is_refused_before_it_begins(self):
        with self.ext4_volume(64, make=("-N", "400")) as volume:
            finished = self.filereel("run", "--near", volume, "--set",
                                     self.many_small_files(300, "1 B"), "--json", "r.json",
                                     status=None)
            self.assert_refused(finished, 1, volume, "not enough inodes", "needed")
            self.assertFalse((self.scratch / "r.json").exists())
            self.assertEqual(os.listdir(volume), ["lost+found"])

    @needs("ext4")
    def test_an_image_of_many_small_files_is_made_with_inodes_for_all(self):
        self.filereel("run", "--near", "image:a.img", "--fs", "ext4", "--set",
                      self.many_small_files(60000, "100 B"), "--operations", "create", "--runs",
                      "1", "--json", "r.json")
        self.assertEqual(self.result()["measurements"][0]["samples"][0]["files"], 60000)

    @needs("ext4")
    def test_an_image_that_the_disk_below_cannot_hold_is_refused(self):
        with self.ext4_volume(64) as volume:
            finished = self.filereel("run", "--near", f"image:{volume}/a.img", "--fs", "ext4",
                                     "--set", "mp3", status=None)
            self.assert_refused(finished, 1, f"{volume}/a.img", "free")
            self.assertEqual(os.listdir(volume), ["lost+found"])
        self.assert_nothing_left()

    @needs("ext4")
    def test_a_volume_that_fills_up_during_the_run_is_named_with_the_file(self):
        files = self.write_set("name: large\ngroups:\n  - count: 60\n    size: 512 KiB\n")
        with self.ext4_volume(160) as volume:
            for _ in range(8):
                (self.scratch / "r.json").unlink(missing_ok=True)
                running = self.start("run", "--near", volume, "--set", files, "--operations",
                                     "create,read,copy-near", "--runs", "3", "--json", "r.json")
                self.assertTrue(wait_until(lambda: self.steps_measured() >= 1 or running.ended(),
                                           60))
                running.kill(signal.SIGSTOP)
                if self.steps_measured() == 1 and not (self.work_folder(volume) / "copy").exists():
                    break
                running.kill(signal.SIGCONT)  # too late: it copies already
                running.finish()
            else:
                self.fail("never stopped before it copied")
            space = os.statvfs(volume)
            filler = volume / "somebody elses"
            with open(filler, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(1, space.f_bavail - 64) * space.f_bsize)
            running.kill(signal.SIGCONT)
            finished = running.finish()
            self.assert_refused(finished, 1, "No space left", "/f0000", "copy-near")
            result = self.result()
            self.assertFalse(result["complete"])
            first = result["measurements"][0]
            self.assertEqual((first["operation"], first["samples"][0]["files"]), ("create", 60))
            # What is not filereel's stays, what is goes.
            self.assertEqual(sorted(os.listdir(volume)), ["lost+found", "somebody elses"])


class VanishingVolumes(IntegrationTest):

    @contextlib.contextmanager
    def shared_folder(self):
        """A mount of its own whose unmounts reach every namespace, as systemd has it for all."""
        folder = self.folder("shared")
        call("mount", "--bind", folder, folder)
        call("mount", "--make-shared", folder)
        try:
            yield folder
        finally:
            call("umount", "-l", folder)

    @needs("ext4")
    def test_a_directory_that_is_unmounted_under_the_run_ends_it(self):
        with self.shared_folder():
            with self.ext4_volume(128, name="shared/volume") as volume:
                running = self.start("run", "--quiet", "--near", volume, "--set", self.many_small_files(),
                                     "--runs", "50", "--json", "r.json")
                self.assertTrue(wait_until(lambda: self.steps_measured() >= 2 or running.ended(),
                                           60))
                call("umount", "-l", volume)
                self.assert_refused(running.finish(), 1, volume, "was unmounted")
                self.assertFalse(self.result()["complete"])
                self.assertEqual(os.listdir(volume), [])  # nothing was put below the mount point
        self.assert_nothing_left()

    @needs("ntfs")
    def test_a_fuse_driver_that_is_killed_under_the_run_ends_it(self):
        for steps, role, folder in ((0, "near", "original"), (2, "near", "copy"),
                                    (3, "far", "copy")):
            with self.subTest(steps=steps, role=role):
                for attempt in range(8):  # each time with twice the files, for a longer step
                    (self.scratch / "r.json").unlink(missing_ok=True)
                    running = self.start("run", "--near", "image:near.img", "--far",
                                         "image:far.img", "--fs", "ntfs", "--set",
                                         self.many_small_files(500 << attempt), "--runs", "1",
                                         "--json", "r.json")

                    def driver():
                        if (self.steps_measured() != steps
                                or not os.path.isdir(f"{running.mount_point(role)}/{folder}")):
                            return None
                        return next((pid for pid in running.children()
                                     if self.serves(pid, role)), None)
                    found = wait_until(lambda: running.ended() or driver(), 60)
                    if found and found is not True:
                        os.kill(found, signal.SIGKILL)
                        break
                    running.finish()
                else:
                    self.fail("the step was over each time")
                self.assert_refused(running.finish(), 1, f"{role}.img", "no longer responds")
                self.assertFalse(self.result()["complete"])
                self.assert_nothing_left()

    @staticmethod
    def serves(pid, role):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
            return words[0].endswith("ntfs-3g") and f"-{role}-" in words[-2]
        return False

    @needs("ntfs")
    def test_a_fuse_driver_that_fails_after_it_has_mounted_leaves_nothing(self):
        folder = self.folder("programs")
        driver = folder / "ntfs-3g"
        driver.write_text('#!/bin/sh\nfor point; do :; done\nmount -t tmpfs none "$point"\n'
                          "echo not today\nexit 21\n")
        driver.chmod(0o755)
        finished = self.filereel("run", "--near", "image:a.img", "--fs", "ntfs", "--set", "mp3",
                                 "--scale", "0.001", status=None,
                                 env=self.environment(PATH=f"{folder}:{os.environ['PATH']}"))
        self.assert_refused(finished, 1, "ntfs-3g", "not today")
        self.assert_nothing_left()

    @needs("ext4")
    def test_a_file_that_takes_the_name_of_an_image_under_the_run_stays(self):
        for victim in ("near", "far"):
            with self.subTest(victim=victim):
                (self.scratch / "r.json").unlink(missing_ok=True)
                running = self.start("run", "--near", f"image:near-{victim}.img", "--far",
                                     f"image:far-{victim}.img", "--fs", "ext4", "--set",
                                     self.many_small_files(500), "--runs", "2", "--json", "r.json")
                wait_until(lambda: self.steps_measured() >= 2 or running.ended(), 60)
                mine = self.scratch / f"{victim}-{victim}.img"
                mine.write_text("mine")
                self.assert_refused(running.finish(), 1, mine.name, "File exists")
                self.assertEqual(mine.read_text(), "mine")
                self.assertEqual(len(self.result()["measurements"][0]["samples"]), 2)
                self.assert_nothing_left()


class OthersData(IntegrationTest):

    @needs("ext4")
    def test_a_read_only_volume_is_refused(self):
        with self.ext4_volume(64, options="ro") as volume:
            finished = self.filereel("run", "--near", volume, "--set", "mp3", "--scale", "0.001",
                                     status=None)
            self.assert_refused(finished, 1, volume, "read-only")

    def test_a_directory_with_files_is_refused_and_untouched(self):
        full, empty = self.folder("full"), self.folder("empty")
        (full / "original").mkdir()
        (full / "original" / "letter").write_text("mine")
        (full / "list").write_text("also mine")
        before = tree_digests(full)
        for targets in (["--near", full], ["--near", full, "--far", empty],
                        ["--near", empty, "--far", full]):
            finished = self.filereel("run", *targets, "--set", "mp3", "--scale", "0.001",
                                     status=None)
            self.assert_refused(finished, 1, full, "not empty")
            self.assertEqual(tree_digests(full), before)
            self.assertEqual(os.listdir(empty), [])

    def assert_image_untouched(self, image):
        before = digest(image), os.stat(image).st_mtime_ns
        finished = self.filereel("run", "--near", f"image:{image}", "--fs", "ext4", "--set", "mp3",
                                 "--scale", "0.001", status=None)
        self.assert_refused(finished, 1, image)
        self.assertEqual((digest(image), os.stat(image).st_mtime_ns), before)
        self.assertFalse(os.path.exists(f"{image}.filereel"))

    @needs("ext4")
    def test_an_image_path_with_somebodys_bytes_is_refused_and_untouched(self):
        image = self.scratch / "a.img"
        image.write_bytes(os.urandom(5 * MIB))
        self.assert_image_untouched(image)

    @needs("ext4")
    def test_an_image_with_a_file_system_of_another_label_is_refused_and_untouched(self):
        image = self.scratch / "a.img"
        for label in ("DATA", "filereel", "FILEREEL2"):
            with open(image, "wb") as file:
                file.truncate(64 * MIB)
            call("mkfs.ext4", "-q", "-F", "-L", label, image)
            self.assert_image_untouched(image)

    @needs("ext4")
    def test_an_image_that_another_loop_device_uses_is_refused(self):
        image = self.scratch / "a.img"
        with open(image, "wb") as file:
            file.truncate(64 * MIB)
        call("mkfs.ext4", "-q", "-F", "-L", "FILEREEL", image)
        with self.loop(image) as device:
            self.assert_image_untouched(image)
            self.assertIn(device, attached_loops(self.base))

    @needs("ext4")
    def test_a_link_to_a_file_is_not_followed(self):
        mine = self.scratch / "mine"
        mine.write_bytes(b"")
        (self.scratch / "a.img").symlink_to(mine)
        finished = self.filereel("run", "--near", "image:a.img", "--fs", "ext4", "--set", "mp3",
                                 "--scale", "0.001", status=None)
        self.assert_refused(finished, 1, "a.img")
        self.assertEqual(mine.stat().st_size, 0)


class BlockDevices(IntegrationTest):

    @contextlib.contextmanager
    def device(self, megabytes=96):
        image = self.scratch / "disk"
        with open(image, "wb") as file:
            file.truncate(megabytes * MIB)
        call("mkfs.ext4", "-q", "-F", "-L", "DATA", image)
        with self.loop(image) as device:
            yield device, image

    def write_other_disk(self):
        other = self.scratch / "other"
        with open(other, "wb") as file:
            file.truncate(MIB)
        return other

    def run_on(self, device, *more):
        return self.filereel("run", "--near", device, "--fs", "ext4", "--set", "mp3", "--scale",
                             "0.001", "--runs", "1", "--json", "r.json", *more, status=None)

    @needs("ext4")
    def test_a_device_that_destroy_does_not_name_is_a_wrong_use(self):
        with self.device() as (device, image):
            before = digest(image)
            self.assert_refused(self.run_on(device), 2, device, "ext4 'DATA'", "--destroy")
            self.assert_refused(self.run_on(device, "--destroy", "/dev/null"), 2, "/dev/null")
            with self.loop(self.write_other_disk()) as other:
                self.assert_refused(self.run_on(device, "--destroy", other), 2, device)
            call("sync", "-f", image)
            self.assertEqual(digest(image), before)

    @needs("ext4")
    def test_a_mounted_device_is_refused_in_spite_of_destroy(self):
        point = self.folder("point")
        with self.device() as (device, image):
            call("mount", device, point)
            (point / "letter").write_text("mine")
            call("umount", point)
            before = digest(image)
            call("mount", "-o", "ro,noload", device, point)
            try:
                self.assert_refused(self.run_on(device, "--destroy", device), 1, device,
                                    f"mounted on {point}")
            finally:
                call("umount", point)
            self.assertEqual(digest(image), before)

    @needs("ext4")
    def test_a_device_that_a_program_holds_is_refused(self):
        with self.device() as (device, image):
            before = digest(image)
            held = os.open(device, os.O_RDWR | os.O_EXCL)
            try:
                self.assert_refused(self.run_on(device, "--destroy", device), 1, device, "in use")
            finally:
                os.close(held)
            self.assertEqual(digest(image), before)

    @needs("ext4")
    @unittest.skipUnless(may_use_swap(), "needs swapon")
    def test_swap_space_is_refused(self):
        with self.device() as (device, image):
            call("mkswap", device)
            if subprocess.call([find("swapon"), device], stderr=subprocess.DEVNULL) != 0:
                self.skipTest("swapon does not work here")
            try:
                # In a chroot the kernel lists the device to filereel's own mount namespace by another
                # name: then all that shows is that it is in use.
                reason = "in use" if in_chroot() else "swap"
                self.assert_refused(self.run_on(device, "--destroy", device), 1, device, reason)
            finally:
                call("swapoff", device)

    @needs("ext4")
    @unittest.skipUnless(has_device_mapper(), "needs the device mapper")
    def test_a_device_below_the_device_mapper_is_refused(self):
        with self.device() as (device, image):
            name = f"reel-integration-{os.getpid()}"
            sectors = call("blockdev", "--getsz", device).strip()
            call("dmsetup", "create", name, "--table", f"0 {sectors} linear {device} 0")
            try:
                self.assert_refused(self.run_on(device, "--destroy", device), 1, device, "in use")
            finally:
                call("dmsetup", "remove", name)

    @needs("ext4")
    def test_a_free_device_that_destroy_names_is_formatted_and_measured(self):
        with self.device() as (device, image):
            finished = self.run_on(device, "--destroy", device)
            self.assertEqual(finished.code, 0, finished)
            self.assertTrue(self.result()["complete"])
            volume = self.result()["volumes"][0]
            self.assertEqual((volume["target"], volume["target_kind"]), (device, "block device"))
            call("sync")
        self.check_clean("ext4", image)
        with self.mounted("ext4", image) as root:
            self.assertIn("copy", os.listdir(root))


class Placement(IntegrationTest):

    def group_of(self, path, inodes):
        return (os.stat(path).st_ino - 1) // inodes

    @needs("ext4")
    def test_trees_lie_where_they_would_lie_in_the_root_of_the_volume(self):
        """Otherwise each run on a hard disk would measure another zone. ext4 chooses the block group by
        the name and the seed; if the working directory has taken that group, it takes the next."""
        make = ["-O", "^has_journal", "-G", "16", "-E",
                "hash_seed=11111111-2222-3333-4444-555555555555"]
        with self.ext4_volume(64 << 10, make=make) as volume:
            header = call("dumpe2fs", "-h", self.scratch / "volume.ext4")
            inodes = int(re.search(r"Inodes per group: +(\d+)", header)[1])
            os.rmdir(volume / "lost+found")
            names = ["original", "copy"]
            for name in names:
                os.mkdir(volume / name)
            wanted = [self.group_of(volume / name, inodes) for name in names]
            for name in names:
                os.rmdir(volume / name)
            self.assertGreater(abs(wanted[0] - wanted[1]), 64)
            self.filereel("run", "--near", volume, "--set", "mp3", "--scale", "0.001", "--runs", "1",
                          "--operations", "create,copy-near", "--keep")
            for name, group in zip(names, wanted):
                self.assertIn(self.group_of(volume / name, inodes) - group, range(33), name)


class Neighbours(IntegrationTest):
    """Two runs on one volume at the same time."""

    def check_second(self, first, *second):
        """Stops the first in its middle, tries the second, and lets the first go on to its end."""
        for attempt in range(8):  # it may be over before it is stopped: then with twice the files
            (self.scratch / "r.json").unlink(missing_ok=True)
            running = self.start("run", *first, "--set", self.many_small_files(200 << attempt),
                                 "--runs", "3", "--json", "r.json")
            wait_until(lambda: self.steps_measured() >= 1 or running.ended(), 60)
            running.kill(signal.SIGSTOP)
            if not wait_until(running.ended, 0.05) and not self.measured_all():
                break
            running.kill(signal.SIGCONT)
            running.finish()
        else:
            self.fail("the first run was over each time")
        finished = self.filereel("--quiet", "run", *second, "--set", "mp3", "--scale", "0.001",
                                 status=None)
        running.kill(signal.SIGCONT)
        self.assert_refused(finished, 1, "in use by another filereel")
        first = running.finish()
        self.assertEqual(first.code, 0, first)
        self.assertTrue(self.result()["complete"])
        self.assert_nothing_left()

    def measured_all(self):
        try:
            return self.result()["complete"]
        except (OSError, ValueError):
            return False

    @needs("ext4")
    def test_a_second_run_on_an_image_is_refused_and_the_first_unharmed(self):
        target = ["--near", "image:a.img", "--fs", "ext4"]
        self.check_second(target, *target)
        self.check_clean("ext4", self.scratch / "a.img")

    def test_a_second_run_on_a_directory_is_refused_and_the_first_unharmed(self):
        volume = self.folder("volume")
        self.check_second(["--near", volume], "--near", volume)
        self.assertEqual(os.listdir(volume), [])

    @needs("ext4")
    def test_a_second_run_without_targets_is_refused_and_the_first_unharmed(self):
        self.check_second(["--fs", "ext4"])


if __name__ == "__main__":
    main()
