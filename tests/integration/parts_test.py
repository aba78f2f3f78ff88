"""Parts of block devices: nothing outside them changes, two of one drive in one run, several in turn."""

import contextlib
import csv
import hashlib
import os
import signal
import struct
import subprocess

from support import IntegrationTest, call, main, needs, wait_until, why_not

MIB = 1 << 20
SIZE = 384  # MiB, of the drive


class PartsTest(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.image = self.scratch / "disk"
        with open(self.image, "wb") as file:
            for _ in range(SIZE // 8):
                file.write(os.urandom(8 * MIB))

    @contextlib.contextmanager
    def drive(self):
        with self.loop(self.image) as device:
            yield device

    def digests(self, device, *parts):
        """Digests of what lies outside the parts (start and size in MiB) of the device."""
        call("blockdev", "--flushbufs", device)
        digests, at = [], 0
        with open(device, "rb") as file:
            for start, size in [*sorted(parts), (SIZE, 0)]:
                file.seek(at * MIB)
                digests.append(hashlib.sha256(file.read((start - at) * MIB)).hexdigest())
                at = start + size
        return digests

    def run_on(self, *words, status=None, runs=1):
        return self.filereel("run", *words, "--set", "mp3", "--scale", "0.01", "--runs", runs,
                             "--json", "r.json", "--quiet", status=status)

    def loops_on(self, device):
        loops = call("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE")
        return [line.split()[0] for line in loops.splitlines() if line.split()[1:2] == [device]]


class Confinement(PartsTest):

    def check(self, kinds, start, size):
        with self.drive() as device:
            before = self.digests(device, (start, size))
            part = f"{device},start={start}M,size={size}M"
            self.run_on("--near", part, "--destroy", device, "--fs", ",".join(kinds), status=0)
            result = self.result()
            self.assertTrue(result["complete"])
            for volume in result["volumes"]:
                self.assertEqual((volume["target"], volume["start"], volume["size"]),
                                 (f"{device},start={start}MiB,size={size}MiB" if start else
                                  f"{device},start=0,size={size}MiB", start * MIB, size * MIB))
                self.assertEqual(volume["target_kind"], "block device")
                self.assertEqual(volume["layers"][0], "part (loop device)")
                self.assertNotIn("part", volume)
            self.assertEqual(self.digests(device, (start, size)), before)
            self.assertEqual(self.loops_on(device), [])
            # What was measured does lie there.
            found = call("blkid", "-p", "-O", start * MIB, "-s", "TYPE", "-o", "value", device)
            self.assertEqual(found.strip(), kinds[-1])
        self.assert_nothing_left()

    @needs("ext4")
    def test_a_run_on_the_beginning_changes_nothing_behind_it(self):
        self.check(["ext4"], 0, 64)

    @needs("ext4")
    def test_a_run_on_the_middle_changes_nothing_around_it(self):
        self.check([kind for kind in ("btrfs", "ntfs", "ext4") if not why_not(kind)], 64, 256)

    @needs("ext4")
    def test_a_part_without_a_size_goes_to_the_end(self):
        with self.drive() as device:
            before = self.digests(device, (320, 64))
            self.run_on("--near", f"{device},start=320M", "--destroy", f"{device},start=256M",
                        "--fs", "ext4", status=0)
            self.assertEqual(self.result()["volumes"][0]["size"], 64 * MIB)
            self.assertEqual(self.digests(device, (320, 64)), before)


class Refusals(PartsTest):

    def refused(self, status, *words, near="start=0,size=64M", destroy="", far=""):
        """The run ends with a line that holds the words, and nothing has changed."""
        call("blockdev", "--flushbufs", self.device)
        before = self.digests(self.device)
        arguments = ["--near", f"{self.device},{near}", "--fs", "ext4",
                     "--destroy", f"{self.device}{destroy}"]
        if far:
            arguments += ["--far", far.format(self.device)]
        self.assert_refused(self.run_on(*arguments), status, *words)
        self.assertEqual(self.digests(self.device), before)
        self.assertEqual(self.loops_on(self.device), [])

    @needs("ext4")
    def test_parts_that_are_none_are_refused_in_one_line(self):
        with self.drive() as self.device:
            self.refused(2, "multiple of 4096", near="start=1000,size=64M")
            self.refused(2, "multiple of 4096", near="size=64000001")
            self.refused(2, "past the end of the device", near="start=384M")
            self.refused(2, "past the end of the device", near="start=352M,size=64M")
            self.refused(2, "too small", near="size=64K")
            self.refused(2, "invalid part", near="start=0,size=64M,fs=ext4")
            self.refused(2, "past the end of the device", destroy=",start=400M")
        folder = self.folder("a")
        self.assert_refused(self.run_on("--near", f"{folder},size=64M"), 2, "not a block device")
        (self.scratch / "b,size=1").mkdir()
        self.run_on("--near", f"{self.scratch}/b,,size=1", status=0)
        self.assertEqual(self.result()["volumes"][0]["target"], f"{self.scratch}/b,,size=1")

    @needs("ext4")
    def test_a_part_that_destroy_does_not_name_is_refused(self):
        with self.drive() as self.device:
            for destroy in (",start=64M,size=64M", ",start=0,size=32M", ",start=4096"):
                self.refused(2, f"--destroy {self.device},start=0,size=64MiB", destroy=destroy)
            with self.subTest("the part is named, the device is not"):
                self.assert_refused(
                    self.run_on("--near", self.device, "--fs", "ext4", "--destroy",
                                f"{self.device},start=0,size=64M"), 2, f"--destroy {self.device}")

    @needs("ext4")
    def test_parts_that_overlap_are_refused(self):
        with self.drive() as self.device:
            self.refused(2, "overlap", far="{},start=32M,size=64M")
            self.refused(2, "overlap", far="{}")
            self.refused(2, "are the same", far="{},size=64M")

    @needs("ext4")
    def test_a_device_that_others_use_is_refused(self):
        with self.drive() as self.device:
            held = os.open(self.device, os.O_RDWR | os.O_EXCL)
            try:
                self.refused(1, self.device, "in use")
            finally:
                os.close(held)
            foreign = call("losetup", "--show", "-f", "-o", 256 * MIB, self.device).strip()
            try:
                call("mkfs.ext4", "-q", "-F", foreign)
                self.refused_beside(foreign)
                with self.mounted_device(foreign):
                    self.refused_beside(foreign)
            finally:
                call("losetup", "-d", foreign)
            with self.mounted_device(self.device, make=True) as point:
                self.assert_refused(self.run_on("--near", f"{self.device},size=64M", "--destroy",
                                                self.device, "--fs", "ext4"), 1, point)

    @needs("ext4")
    def test_a_device_that_another_program_has_for_a_moment_is_waited_for(self):
        with self.drive() as device:
            for words in ("", ",size=64M"):
                with self.subTest(words), subprocess.Popen(
                        ["sh", "-c", f"exec 3<>{device}; echo; exec sleep 1"],
                        stdout=subprocess.PIPE) as holder:
                    holder.stdout.readline()
                    self.run_on("--near", device + words, "--destroy", device, "--fs", "ext4",
                                status=0)

    def refused_beside(self, foreign):
        self.assert_refused(self.run_on("--near", f"{self.device},size=64M", "--destroy",
                                        self.device, "--fs", "ext4"), 1, "in use", foreign)

    @contextlib.contextmanager
    def mounted_device(self, device, make=False):
        point = str(self.folder("point"))
        if make:
            call("mkfs.ext4", "-q", "-F", device)
        call("mount", device, point)
        try:
            yield point
        finally:
            call("umount", point)


class Two(PartsTest):
    """Near and far on one drive."""

    def arguments(self, device, *more):
        return ["--near", f"{device},start=0,size=96M", "--far", f"{device},start=96M,size=96M",
                "--destroy", device, "--fs", "ext4", *more]

    @needs("ext4")
    def test_one_drive_is_near_and_far(self):
        with self.drive() as device:
            before = self.digests(device, (0, 96), (96, 96))
            self.run_on(*self.arguments(device), status=0, runs=2)
            result = self.result()
            self.assertEqual({one["operation"] for one in result["measurements"]},
                             {"create", "read", "copy-near", "copy-far", "delete"})
            self.assertEqual([(one["role"], one["start"]) for one in result["volumes"]],
                             [("near", 0), ("far", 96 * MIB)])
            self.assertEqual(self.digests(device, (0, 96), (96, 96)), before)
            self.assertEqual(self.loops_on(device), [])

    @contextlib.contextmanager
    def stopped_run(self, device):
        """A run in its middle, which stands still."""
        running = self.start("run", *self.arguments(device, "--set", self.many_small_files(3000),
                                                    "--runs", 20, "--json", "r.json"))
        self.assertTrue(wait_until(lambda: self.steps_measured() >= 2 or running.ended(), 60))
        running.kill(signal.SIGSTOP)
        try:
            yield running
        finally:
            running.kill(signal.SIGCONT)
            running.kill(signal.SIGKILL)
            done = running.finish()
            self.assertEqual(done.code, -signal.SIGKILL, done.err)

    @needs("ext4")
    def test_nobody_else_gets_the_device_while_a_run_uses_parts_of_it(self):
        with self.drive() as device:
            with self.stopped_run(device):
                with self.assertRaises(OSError):
                    os.close(os.open(device, os.O_RDWR | os.O_EXCL))
                self.assert_refused(self.run_on("--near", f"{device},start=256M", "--destroy",
                                                device, "--fs", "ext4"), 1, "in use")
            self.assertTrue(wait_until(lambda: not self.loops_on(device), 10))

    @needs("ext4")
    def test_a_killed_run_leaves_nothing(self):
        with self.drive() as device:
            before = self.digests(device, (0, 192))
            with self.stopped_run(device):
                self.assertEqual(len(self.loops_on(device)), 2)
            self.assertTrue(wait_until(lambda: not self.loops_on(device), 10))
            os.close(os.open(device, os.O_RDWR | os.O_EXCL))
            self.assertEqual(self.digests(device, (0, 192)), before)
            self.run_on(*self.arguments(device), status=0)
            self.assertTrue(self.result()["complete"])
        self.assert_nothing_left()


class InTurn(PartsTest):
    """--parts"""

    @needs("ext4")
    def test_parts_are_an_axis_of_the_result(self):
        with self.drive() as device:
            starts = {"begin": 0, "25%": 80 * MIB, "middle": 160 * MIB, "end": 320 * MIB}
            before = self.digests(device, *((start // MIB, 64) for start in starts.values()))
            self.run_on("--near", f"{device},size=64M", "--parts", ",".join(starts), "--destroy",
                        device, "--fs", "ext4", "--operations", "create,read", runs=2, status=0)
            result = self.result()
            self.assertEqual(self.digests(device, *((s // MIB, 64) for s in starts.values())), before)
        self.assertEqual({one["part"]: one["start"] for one in result["volumes"]}, starts)
        self.assertEqual(result["plan"]["jobs"][0]["sweep"],
                         [{"name": "part", "values": list(starts)}])
        self.assertEqual([(one["operation"], one["parameters"]["part"])
                          for one in result["measurements"]],
                         [(step, part) for part in starts for step in ("create", "read")])
        # Each repetition goes through all of them.
        samples = [(sample["started_s"], sample["run"], one["parameters"]["part"])
                   for one in result["measurements"] for sample in one["samples"]
                   if one["operation"] == "create"]
        self.assertEqual([(run, part) for _, run, part in sorted(samples)],
                         [(run, part) for run in (1, 2) for part in starts])
        self.check_shown()

    def check_shown(self):
        shown = self.filereel("show", "r.json").out
        self.assertRegex(shown, r"(?m)^part\b")
        self.assertIn("middle", shown)
        compared = self.filereel("compare", "r.json", "r.json", status=None).out
        self.assertIn("part=middle", compared)
        self.filereel("report", "r.json", "-o", "r.html", "--csv", "r.csv")
        with open(self.scratch / "r.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(any("middle" in value for row in rows for value in row.values()), rows[:1])
        self.assertIn("middle", (self.scratch / "r.html").read_text())

    @needs("ext4")
    def test_methods_of_copying_take_turns_on_each_part(self):
        with self.drive() as device:
            self.run_on("--near", f"{device},size=64M", "--parts", "begin,end", "--destroy", device, "--fs",
                        "ext4", "--copy-command", "cp -a {from}/. {to}", runs=2, status=0)
        samples = [(sample["started_s"], sample["run"], one["parameters"]["part"],
                    one["parameters"]["copy_method"])
                   for one in self.result()["measurements"] for sample in one["samples"]
                   if one["operation"] == "copy-near"]
        methods = ["readwrite", "cp -a {from}/. {to}"]
        self.assertEqual([tuple(rest) for _, *rest in sorted(samples)],
                         [(run, part, method) for run in (1, 2) for part in ("begin", "end")
                          for method in (methods if run == 1 else methods[::-1])])

    @needs("ext4")
    def test_far_stays_where_it_is(self):
        with self.drive() as device:
            self.run_on("--near", f"{device},size=64M", "--parts", "begin,end", "--far",
                        f"{device},start=128M,size=64M", "--destroy", device, "--fs", "ext4",
                        status=0)
            far = [one for one in self.result()["volumes"] if one["role"] == "far"]
            self.assertEqual([(one["start"], one.get("part")) for one in far], [(128 * MIB, None)])

    @needs("ext4")
    def test_parts_of_two_drives_are_compared_in_turn(self):
        other = self.scratch / "other"
        with open(other, "wb") as file:
            file.truncate(SIZE * MIB)
        with self.drive() as device, self.loop(other) as against:
            self.run_on("--near", f"{device},size=64M", "--against", f"{against},size=64M",
                        "--parts", "begin,end", "--destroy", device, "--destroy", against, "--fs",
                        "ext4", "--operations", "create", "--against-json", "b.json")
            for name, drive in (("r.json", device), ("b.json", against)):
                result = self.result(name)
                self.assertEqual(result["label"], f"{drive},start=0,size=64MiB")
                self.assertEqual([one["start"] for one in result["volumes"]], [0, 320 * MIB])
                self.assertEqual(len(result["measurements"]), 2)

    @needs("ext4")
    def test_what_has_no_parts_is_refused(self):
        with self.drive() as device:
            before = self.digests(device)

            def refused(*words, parts="begin,end"):
                return self.run_on(*words, "--parts", parts, "--destroy", device, "--fs", "ext4")
            near = ["--near", f"{device},size=64M"]
            self.assert_refused(refused("--near", device), 2, "with a size")
            self.assert_refused(refused("--near", f"{device},start=64M,size=64M"), 2, "without a start")
            self.assert_refused(refused("--near", "image:a.img,size=64M"), 2, "block device")
            self.assert_refused(refused(*near, "--against", "image:b.img,size=64M"), 2, "--against")
            self.assert_refused(refused(*near, parts="begin"), 2, "two or more")
            self.assert_refused(refused(*near, parts="begin,start"), 2, "begin, middle, end")
            self.assert_refused(refused(*near, parts="begin,10%"), 2, "overlap")
            self.assert_refused(refused(*near, "--far", f"{device},start=32M,size=64M"), 2, "overlap")
            self.assert_refused(refused(*near, "--with-block-baseline"), 2, "--with-block-baseline")
            self.assert_refused(refused("--engine", "null"), 2, "--parts")
            self.assertEqual(self.digests(device), before)


class Partitions(PartsTest):

    def parted(self):
        """A drive with two partitions, as far as the kernel lets loop devices have them."""
        entry = "<B3sB3sII"
        with open(self.image, "r+b") as file:  # a table as DOS has it
            file.write(bytes(446))
            for first in (2048, 264192):
                file.write(struct.pack(entry, 0, bytes(3), 0x83, bytes(3), first, 262144))
            file.write(bytes(32) + b"\x55\xaa")
        return call("losetup", "-P", "--show", "-f", self.image).strip()

    @needs("ext4")
    def test_a_partition_overlaps_the_parts_of_its_drive(self):
        device = self.parted()
        self.addCleanup(call, "losetup", "-d", device)
        if not wait_until(lambda: os.path.exists(f"{device}p2"), 2):
            self.skipTest("partitions of loop devices have no nodes here")
        for far, word in (("start=0,size=64M", "overlap"), ("start=300M", "are on the same drive")):
            self.assert_refused(self.run_on("--near", f"{device}p1", "--far", f"{device},{far}",
                                            "--destroy", device, "--destroy", f"{device}p1",
                                            "--fs", "ext4"), 2, word)
        before = self.digests(device, (17, 64))
        self.run_on("--near", f"{device}p1,start=16M,size=64M", "--destroy", f"{device}p1",
                    "--fs", "ext4", status=0)
        self.assertEqual(self.digests(device, (17, 64)), before)
        point = self.folder("point")
        call("mkfs.ext4", "-q", "-F", f"{device}p2")
        call("mount", f"{device}p2", point)
        try:
            self.assert_refused(self.run_on("--near", f"{device},size=64M", "--destroy", device,
                                            "--fs", "ext4"), 1, f"mounted on {point}")
        finally:
            call("umount", point)


if __name__ == "__main__":
    main()
