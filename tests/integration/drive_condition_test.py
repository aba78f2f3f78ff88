"""Conditions of the drive (docs/drive-condition.md), on real file systems and block devices. What filereel
says it has made is compared with what statvfs, the counters of the kernel and other programs see."""

import contextlib
import fractions
import json
import os
import pathlib
import re
import signal
import unittest

from support import IntegrationTest, call, main, needs, wait_until, why_not

MIB = 1 << 20
MAKERS = {"ext4": ["mkfs.ext4", "-q", "-b", "4096"], "xfs": ["mkfs.xfs", "-q"], "btrfs": ["mkfs.btrfs", "-q"],
          "ntfs": ["mkfs.ntfs", "-q", "-Q", "-F"]}
RECIPE = """files: {name: data, count: 2, size: 64 KiB}
access: {size: 4 KiB, random: 100 %, reads: 0 %}
stop: {operations: 32}
"""


def verdict(rates):
    """The rule of SNIA's PTS with exact fractions: five rounds, range at most 20 % of their mean, and the least
    squares line changes by at most 10 % of it."""
    if len(rates) < 5:
        return "unknown"
    last = [fractions.Fraction(rate) for rate in rates[-5:]]
    mean = sum(last) / 5
    slope = sum((x - 3) * (y - mean) for x, y in enumerate(last, 1)) / 10
    steady = max(last) - min(last) <= mean / 5 and abs(slope) * 4 <= mean / 10
    return "steady" if steady else "not"


def used_share(path):
    """As df counts it."""
    info = os.statvfs(path)
    used = info.f_blocks - info.f_bfree
    return used / (used + info.f_bavail)


class SteadyRule(unittest.TestCase):

    def test_the_kept_series_have_the_verdicts_of_the_rule(self):
        kept = pathlib.Path(__file__).resolve().parents[1] / "replay/steady_series.txt"
        series = [line.split(";") for line in kept.read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(series), 12)
        for wanted, rates, what in series:
            self.assertEqual(verdict(rates.split()), wanted, what)


@needs("ext4")
class OnDevices(IntegrationTest):

    def setUp(self):
        super().setUp()
        (self.scratch / "recipe.yaml").write_text(RECIPE)

    def device(self, content=b""):
        """A loop device of 64 MiB, and its file."""
        image = self.scratch / f"device{len(os.listdir(self.scratch))}"
        image.write_bytes(content)
        os.truncate(image, 64 * MIB)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(self.loop(image)), image

    def measure(self, target, *said, status=0):
        destroy = ["--destroy", target] if target.startswith("/dev/") else []
        done = self.filereel("run", "recipe.yaml", "--near", target, *destroy, *said, "--json", "r.json",
                             status=status)
        return done, json.loads((self.scratch / "r.json").read_text()) if status == 0 else None

    @staticmethod
    def written(device):
        """Bytes written so far, by the kernel's counter."""
        return int(pathlib.Path(f"/sys/block/{pathlib.Path(device).name}/stat").read_text().split()[6]) * 512

    @staticmethod
    def empty_blocks(image):
        """Share of the blocks of 4 KiB without data."""
        data = image.read_bytes()
        empty = sum(not any(data[i:i + 4096]) for i in range(0, len(data), 4096))
        return empty / (len(data) / 4096)

    def test_preconditioning_writes_every_block_in_each_pass_and_formatting_keeps_it(self):
        for how in ("sequential 1x 1MiB", "random 2x 64KiB"):
            with self.subTest(how):
                device, image = self.device()
                before = self.written(device)
                _, result = self.measure(device, "--fs", "ext4", "--runs", "3", "--precondition", how)
                passes = int(re.search(r"(\d)x", how)[1])
                # Three repetitions, but the passes are made once. Each repetition formats and creates files.
                self.assertGreaterEqual(self.written(device) - before, passes * 64 * MIB)
                self.assertLess(self.written(device) - before, (passes + 0.6) * 64 * MIB)
                self.assertLess(self.empty_blocks(image), 0.15)  # mkfs zeroes some
                settings = result["plan"]["jobs"][0]["settings"]
                self.assertTrue(settings["precondition"].startswith(how[:8]), settings)

    def test_without_conditions_a_device_is_discarded_before_it_is_formatted(self):
        device, image = self.device(os.urandom(64 * MIB))
        self.measure(device, "--fs", "ext4", "--runs", "1")
        self.assertGreater(self.empty_blocks(image), 0.8)

    def test_a_purge_precedes_the_preconditioning(self):
        device, image = self.device(os.urandom(64 * MIB))
        _, result = self.measure(device, "--fs", "ext4", "--runs", "1", "--purge", "--precondition",
                                 "sequential 0.25x")
        self.assertGreater(self.empty_blocks(image), 0.5)
        self.assertEqual(result["plan"]["jobs"][0]["settings"]["purge"], "true")

    def test_a_purge_that_is_not_possible_is_not_claimed(self):
        done, result = self.measure("image:disk", "--fs", "ext4", "--runs", "1", "--purge")
        self.assertIn("[not-purged]", done.err + done.out)
        self.assertEqual(result["plan"]["jobs"][0]["settings"]["purge"], "not possible")

    def test_options_of_mkfs_and_mount_are_in_force(self):
        device, image = self.device()
        _, result = self.measure(device, "--fs", "ext4", "--runs", "1", "--mkfs-options",
                                 "ext4=-O ^has_journal -E stride=8", "--mount-options", "noatime,lazytime")
        shown = call("dumpe2fs", "-h", str(image))
        self.assertNotIn("has_journal", shown)
        self.assertRegex(shown, r"RAID stride: +8")
        self.assertIn("noatime", result["volumes"][0]["mount_options"])
        self.assertIn("lazytime", result["volumes"][0]["mount_options"])

    def test_options_that_make_no_file_system_are_an_error(self):
        device, _ = self.device()
        self.measure(device, "--fs", "ext4", "--runs", "1")
        done, _ = self.measure(device, "--fs", "ext4", "--runs", "1", "--mkfs-options", "-n", status=1)
        self.assertIn("cannot mount", done.err)
        done, _ = self.measure(device, "--fs", "ext4", "--runs", "1", "--mkfs-options", "-O nonsense", status=1)
        self.assertIn("with the options '-O nonsense'", done.err)
        done, _ = self.measure(device, "--fs", "ext4", "--runs", "1", "--mount-options", "nonsense", status=1)
        self.assertIn("with the options 'nonsense'", done.err)

    def test_options_reach_nothing_outside_of_the_volume(self):
        device, _ = self.device()
        before = set(os.listdir(self.scratch))
        for option, text in (("--mkfs-options", "-J device=/dev/null"), ("--mkfs-options", "-z /tmp/undo"),
                             ("--mkfs-options", "-d .."), ("--mkfs-options", "-J device=TYPE=jbd"),
                             ("--mount-options", "journal_path=/dev/null")):
            done, _ = self.measure(device, "--fs", "ext4", option, text, status=2)
            self.assertIn("may lead to another device or file", done.err)
        # A relative name: mke2fs keeps what it overwrites in this file.
        self.measure(device, "--fs", "ext4", "--runs", "1", "--mkfs-options", "-z undo", status=1)
        self.assertLessEqual(set(os.listdir(self.scratch)) - before, {"r.json"})

    def test_conditions_of_formatted_volumes_do_not_apply_to_directories(self):
        for said in (["--purge"], ["--mkfs-options", "-m 0"], ["--mount-options", "noatime"],
                     ["--precondition", "random device"]):
            done, _ = self.measure(str(self.folder("near")), *said, status=2)
            self.assertIn("does not apply to recipe.yaml: ", done.err)

    def test_a_condition_that_some_volumes_cannot_have_is_refused(self):
        far = ["--far", str(self.folder("far")), "--fs", "ext4"]
        (self.scratch / "recipe.yaml").write_text(RECIPE.replace("size: 64 KiB", "size: 64 KiB, volumes: all"))
        for said, what in ((["--mkfs-options", "-m 0"], "is not formatted"), (["--purge"], "is not formatted"),
                           (["--precondition", "random"], "only some of the volumes are formatted"),
                           (["--precondition", "random device"], "is in use")):
            done, _ = self.measure("image:disk", *far, *said, status=2)
            self.assertIn(what, done.err)
        self.measure("image:disk", *far, "--runs", "1", "--rest", "1ms")

    def test_options_of_another_file_system_are_named(self):
        done, _ = self.measure("image:disk", "--fs", "ext4", "--runs", "1", "--mkfs-options", "xfs=-m crc=0")
        self.assertIn("[options-unused]", done.out + done.err)

    def test_an_image_of_half_a_sector_is_written_as_a_whole(self):
        self.measure("image:disk,size=67109120", "--fs", "ext4", "--runs", "1", "--precondition", "random 1x 64KiB")

    def test_the_samples_begin_with_the_steady_state(self):
        done, result = self.measure("image:disk", "--fs", "ext4", "--steady", "--runs", "6")
        found = result["measurements"][0]
        rates = found.get("earlier_rounds", []) + [sample["bytes"] / 1e6 / sample["durable_s"]
                                                   for sample in found["samples"]]
        earlier = len(rates) - len(found["samples"])
        self.assertGreaterEqual(len(found["samples"]), 5)
        self.assertLessEqual(len(rates), 25)
        for end in range(5, earlier + 5):  # no earlier window was steady
            self.assertEqual(verdict(rates[:end]), "not", rates[:end])
        steady = verdict(rates[:earlier + 5]) == "steady"
        self.assertEqual("[not-steady]" in done.err + done.out, not steady, rates)

    def test_compare_names_conditions_that_differ(self):
        self.measure("image:disk", "--fs", "ext4", "--runs", "2")
        (self.scratch / "r.json").rename(self.scratch / "base.json")
        self.measure("image:disk", "--fs", "ext4", "--runs", "2", "--fill", "50%")
        done = self.filereel("compare", "base.json", "r.json", status=None)
        self.assertRegex(done.out + done.err, r"fill.*50 %")


@needs("ext4")
class Fill(IntegrationTest):

    def setUp(self):
        super().setUp()
        (self.scratch / "recipe.yaml").write_text(RECIPE)

    @contextlib.contextmanager
    def volume(self, kind, megabytes):
        """A new file system, mounted without filereel."""
        image = self.scratch / f"{kind}.image"
        with open(image, "wb") as file:
            file.truncate(megabytes * MIB)
        call(*MAKERS[kind], image)
        with self.mounted(kind, image, read_only=False) as folder:
            yield folder
        image.unlink()

    def run_on(self, folder, *said, status=0):
        return self.filereel("run", "recipe.yaml", "--near", folder / "new", "--runs", "1", *said, status=status)

    def test_the_share_is_that_of_statvfs(self):
        for kind, size in (("ext4", 256), ("xfs", 512), ("btrfs", 512), ("ntfs", 256)):
            if why_not(kind):
                continue
            for share, files in (("30%", "64MiB"), ("90%", "64KiB")):
                with self.subTest(kind=kind, share=share), self.volume(kind, size) as folder:
                    before = used_share(folder)
                    self.run_on(folder, "--fill", share,
                                  "--fill-files", files, "--keep")
                    self.assertLess(before, 0.3)
                    wanted = float(share.strip("%")) / 100
                    self.assertAlmostEqual(used_share(folder), wanted, delta=0.005 + 256 * 1024 / (size * MIB))

    def test_a_fill_of_a_file_set_has_its_files(self):
        small = self.many_small_files(20, "64 KiB")
        with self.volume("ext4", 128) as folder:
            self.run_on(folder, "--fill", "40%", "--fill-files",
                          str(small), "--keep")
            self.assertAlmostEqual(used_share(folder), 0.4, delta=0.005 + 256 * 1024 / (128 * MIB))
            sizes = [path.stat().st_size for path in pathlib.Path(folder).rglob("*")
                     if path.is_file() and ".filereel-fill" in str(path)]
            self.assertGreater(sizes.count(64 * 1024), 300)
            self.assertGreater(sizes.count(64 * 1024), 0.95 * len(sizes))

    def test_the_contents_of_a_fill_are_different_and_incompressible(self):
        with self.volume("ext4", 128) as folder:
            self.run_on(folder, "--fill", "30%", "--fill-files",
                          "1MiB", "--keep")
            blocks = [path.read_bytes()[:4096] for path in pathlib.Path(folder).rglob("*")
                      if path.is_file() and ".filereel-fill" in str(path)]
            self.assertGreater(len(blocks), 20)
            self.assertEqual(len(set(blocks)), len(blocks))

    def test_a_tree_with_a_fill_is_verified(self):
        small = self.many_small_files(10, "4 KiB")
        self.filereel("run", str(small), "--near", "image:disk", "--fs", "ext4", "--runs", "1", "--verify", "tree",
                      "--fill", "50%")

    def test_what_leaves_no_space_is_refused_before_anything_is_touched(self):
        (self.scratch / "large.yaml").write_text(RECIPE.replace("64 KiB", "40 MiB"))
        with self.volume("ext4", 128) as folder:
            before = used_share(folder)
            done = self.filereel("run", "large.yaml", "--near", folder / "new", "--fill", "50%", status=1)
            self.assertIn("use a smaller --fill", done.err)
            self.run_on(folder, "--fill", "96%", status=2)
            self.assertEqual(os.listdir(folder), ["lost+found"])
            (folder / "own").write_bytes(bytes(64 * MIB))
            done = self.run_on(folder, "--fill", "20%", status=1)
            self.assertIn("are in use already", done.err)
            self.assertGreater(used_share(folder), before)

    def test_an_image_without_a_size_has_space_for_the_fill(self):
        self.filereel("run", "recipe.yaml", "--near", "image:disk", "--fs", "ext4", "--runs", "1", "--fill", "75%")

    def test_an_interrupted_fill_leaves_nothing(self):
        with self.volume("ext4", 900) as folder:
            refused = self.run_on(folder, "--fill", "90%", "--fill-files", "4KiB", status=1)
            self.assertIn("inodes needed", refused.err)
            run = self.start("run", "recipe.yaml", "--near", folder / "new", "--runs", "1", "--fill", "90%",
                             "--fill-files", "64KiB")
            self.assertTrue(wait_until(lambda: used_share(folder) > 0.1, 60))
            run.kill(signal.SIGINT)
            self.assertEqual(run.finish().code, 130)
            self.assertEqual(os.listdir(folder), ["lost+found"])
            self.assertLess(used_share(folder), 0.1)

    def test_preconditioning_with_files_leaves_none(self):
        with self.volume("ext4", 128) as folder:
            device = os.stat(folder).st_dev
            stat = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
            before = int(stat.read_text().split()[6]) * 512
            self.run_on(folder, "--precondition",
                          "random 2x 16KiB", "--keep")
            # Two passes in random order over files that a first one in sequence has created.
            self.assertGreater(int(stat.read_text().split()[6]) * 512 - before, 2.5 * 100 * MIB)
            self.assertLess(used_share(folder), 0.05)


if __name__ == "__main__":
    main()
