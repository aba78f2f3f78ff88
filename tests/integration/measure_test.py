"""Whole runs: counts and bytes on the volumes, samples in the result, and a clean file system."""

import os
import re
import unittest

from support import (IntegrationTest, STEPS, THOROUGH, call, in_memory, main, needs, needs_disk,
                     thorough, tree_digests, why_not)

PROGRAMS_FILES, PROGRAMS_BYTES = 8504, 1380000000


@needs_disk()
class FullScale(IntegrationTest):

    memory = 0  # caches are cold on disks only

    @needs("ext4")
    @thorough("the full size of what EveryFileSystem does at a small scale")
    def test_the_programs_set_lies_on_both_images_to_the_last_byte(self):
        near, far = self.scratch / "a.img", self.scratch / "b.img"
        self.filereel("run", "--near", f"image:{near}", "--far", f"image:{far}", "--fs", "ext4",
                      "--set", "programs", "--runs", "1", "--operations",
                      "create,copy-near,copy-far", "--json", "r.json", timeout=200)
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual([one["operation"] for one in result["measurements"]],
                         ["create", "copy-near", "copy-far"])
        for one in result["measurements"]:
            self.assertEqual([(s["files"], s["bytes"]) for s in one["samples"]],
                             [(PROGRAMS_FILES, PROGRAMS_BYTES)])
        self.assert_nothing_left()
        for image, folders in ((near, ["copy", "original"]), (far, ["copy"])):
            with self.mounted("ext4", image) as root:
                self.assertEqual(sorted(set(os.listdir(root)) - {"lost+found"}), folders)
                for folder in folders:
                    self.assertEqual(self.count(root / folder), (PROGRAMS_FILES, PROGRAMS_BYTES))
            self.check_clean("ext4", image)

    def count(self, folder):
        """Files and bytes as find(1) and awk(1) see them, not as this program does."""
        found = call("sh", "-c", f"find '{folder}' -type f | wc -l; find '{folder}' -type f "
                     "-printf '%s\\n' | awk '{sum += $1} END {printf \"%.0f\\n\", sum}'")
        return tuple(map(int, found.split()))


@needs_disk()
class EveryFileSystem(IntegrationTest):
    """Each kind, with the step that deletes; ext4 without it, too, as the thorough tests all."""

    memory = 0

    def measure(self, kind, steps):
        near, far = self.scratch / "near.img", self.scratch / "far.img"
        self.filereel("run", "--near", f"image:{near}", "--far", f"image:{far}", "--fs", kind,
                      "--set", "programs", "--scale", "0.005", "--runs", "2", "--operations",
                      ",".join(steps), "--json", "r.json")
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual([one["operation"] for one in result["measurements"]], steps)
        for one in result["measurements"]:
            self.assertEqual(one["file_system"], kind)
            self.assertEqual(len(one["samples"]), 2)
            for sample in one["samples"]:
                self.check_sample(one["operation"], sample)
        self.assert_nothing_left()
        for image in (near, far):
            self.check_clean(kind, image)
        return near, far

    def check_sample(self, operation, sample):
        self.assertGreater(sample["elapsed_s"], 0)
        self.assertGreaterEqual(sample["durable_s"], sample["elapsed_s"])
        self.assertEqual(sample["files"], round(PROGRAMS_FILES * 0.005))
        # Deleting moves no content.
        moved = 0 if operation == "delete" else round(PROGRAMS_BYTES * 0.005)
        self.assertEqual(sample["bytes"], moved)
        self.assertEqual(sample["divergences"]["count"], 0)
        self.assertEqual(sample["cold_method"], "remount")
        if operation not in ("create", "delete"):
            self.assertLessEqual(sample["cached_before"], 0.02)

    def check_kind(self, kind):
        reason = why_not(kind)
        if reason:
            self.skipTest(reason)
        with self.subTest("with delete"):
            near, far = self.measure(kind, STEPS)
            at_near, at_far = self.trees(kind, near), self.trees(kind, far)
            self.assertEqual(at_near["original"], {})  # what is deleted is the set, not its copies
            self.assertEqual(at_near["copy"], at_far["copy"])
            self.assertEqual(at_near["copy"], self.populated())
        if kind != "ext4" and not THOROUGH:
            return
        with self.subTest("without delete"):
            near, far = self.measure(kind, STEPS[:-1])
            at_near, at_far = self.trees(kind, near), self.trees(kind, far)
            self.assertEqual(at_near["original"], at_near["copy"])
            self.assertEqual(at_near["original"], at_far["copy"])
            self.assertEqual(at_far["original"], {})

    def populated(self):
        """The set as another command makes it, to the last byte."""
        folder = self.scratch / "populated"
        self.filereel("populate", "programs", folder, "--scale", "0.005")
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        self.assertEqual(len(sizes), round(PROGRAMS_FILES * 0.005))
        self.assertEqual(sum(sizes), round(PROGRAMS_BYTES * 0.005))
        return tree_digests(folder)

    def trees(self, kind, image):
        with self.mounted(kind, image) as root:
            return {name: tree_digests(root / name) for name in ("original", "copy")}

    def test_ext4_is_measured_and_left_clean(self):
        self.check_kind("ext4")

    def test_ntfs_is_measured_and_left_clean(self):
        self.check_kind("ntfs")

    def test_fat32_is_measured_and_left_clean(self):
        self.check_kind("fat32")

    def test_xfs_is_measured_and_left_clean(self):
        self.check_kind("xfs")

    def test_btrfs_is_measured_and_left_clean(self):
        self.check_kind("btrfs")

    def test_exfat_is_measured_and_left_clean(self):
        self.check_kind("exfat")


class InMemory(IntegrationTest):

    def measure(self, *volumes):
        done = self.filereel("run", "mp3", "--scale", "0.005", "--runs", "1", "--operations",
                             "create,read", *volumes, "--json", "r.json", "--html", "r.html")
        self.assertEqual(self.result()["measurements"][1]["samples"][0]["cached_before"], 1)
        page = (self.scratch / "r.html").read_text()
        for text in (done.out, self.filereel("show", "r.json").out, page):
            self.assertIn("threads 1, in memory", text)
            self.assertNotIn("cold caches", text)
        (warning,) = (one for one in self.result()["warnings"] if one["code"] == "not-cold")
        self.assertIn("nothing is cold in memory (near)", warning["text"])

    @needs("ext4")
    def test_an_image_in_memory_is_not_called_cold(self):
        folder = self.memory_folder(200)
        if not in_memory(folder):
            self.skipTest("no tmpfs can be mounted")
        self.measure("--near", f"image:{folder}/a.img", "--fs", "ext4")

    def test_a_directory_in_memory_is_not_called_cold(self):
        folder = self.memory_folder(200)
        if not in_memory(folder):
            self.skipTest("no tmpfs can be mounted")
        self.measure("--near", folder / "volume")


def kernel_version():
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


class ColdNames(IntegrationTest):
    """Stats of files in a directory of ext4: the names and inodes were just created, and sampled."""

    NAMES = [f"d{i}/f" for i in range(10)]

    @needs("ext4")
    @unittest.skipIf(kernel_version() < (5, 14), "the kernel cannot empty the journal of ext4")
    def test_cold_names_and_inodes_come_from_the_drive(self):
        (self.scratch / "app.strace").write_text("".join(
            f'1 newfstatat(AT_FDCWD, "/{name}", {{st_mode=S_IFREG|0644, st_size=0, ...}}, 0) = 0\n'
            for name in self.NAMES))
        self.filereel("import", "app.strace", "-o", "app.reel")
        with self.ext4_volume(64) as volume:
            for caches, is_read in ((["--warm"], False), ([], True)):
                self.filereel("replay", "app.reel", volume / "work", "--runs", "1", *caches,
                              "--json", "r.json")
                (sample,) = self.result()["measurements"][0]["samples"]
                self.assertEqual(sample["latency"]["stat"]["count"], len(self.NAMES))
                self.assertEqual(sample["device_bytes_read"] > 0, is_read)
                self.assertGreater(sample["lookup_s"], 0)


if __name__ == "__main__":
    main()
