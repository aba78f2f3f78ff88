"""The drives under real stacks of devices, the conditions of samples, and the user's words."""

import contextlib
import json
import os
import pathlib
import struct
import subprocess
import unittest

from support import (SCRATCH, IntegrationTest, call, find, have, in_chroot, in_memory, kernel_has,
                     main, needs, needs_disk, needs_share, sees_mount, wait_until, why_not)

MIB = 1 << 20
CONDITIONS = {"other_cpu", "stolen_cpu", "cpu_mhz_low", "cpu_mhz_high", "idle_device_bytes_per_s",
              "volume_used", "cpu_quota", "cpu_periods", "cpu_throttled_periods", "cpu_throttled_s",
              "memory_limit", "cpu_pressure", "io_pressure", "memory_pressure"}


def has_device_mapper():
    return have("dmsetup") and subprocess.call([find("dmsetup"), "ls"], stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL) == 0


def has_md():
    return have("mdadm") and os.path.exists("/proc/mdstat")


def follows_loops():
    """For tests of loop devices that filereel did not attach itself."""
    return unittest.skipIf(in_chroot(), "in a chroot, the kernel names a loop device's file as it "
                           "is outside")


def drives_of(volume):
    return [one["name"] for one in volume["drives"]]


class StackTest(IntegrationTest):

    def volume(self, target, *options):
        """What a result says of the volume."""
        self.filereel("run", "--near", target, "--set", self.many_small_files(5), "--operations",
                      "create", "--runs", "1", "--json", "r.json", *options)
        return self.result()["volumes"][0]


@needs_disk()
@unittest.skipUnless(sees_mount(SCRATCH), f"the mount of {SCRATCH} is not listed in this chroot")
class Stacks(StackTest):

    memory = 0

    def drives_below(self):
        """Those that the scratch folder lies on."""
        return drives_of(self.volume(self.folder("plain")))

    def image(self, name, megabytes=32, folder=None):
        path = (folder or self.scratch) / name
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, megabytes * MIB)
        return path

    @contextlib.contextmanager
    def ext4_on(self, device, name):
        point = self.folder(name)
        call("mkfs.ext4", "-q", "-F", device)
        call("mount", "-t", "ext4", device, point)
        try:
            yield point
        finally:
            call("umount", point)

    @unittest.skipUnless(have("lsblk"), "needs lsblk")
    def test_a_directory_lies_on_the_drives_that_lsblk_finds(self):
        number = os.stat(self.scratch).st_dev
        known = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"
        device = "/dev/" + os.path.basename(os.path.realpath(known))
        if not os.path.exists(known) or not os.path.exists(device):
            self.skipTest("the scratch folder's file system does not tell its block device")
        lines = call("lsblk", "-n", "-r", "-s", "-o", "NAME,TYPE", device).split("\n")
        disks = {line.split()[0] for line in lines if line.endswith(" disk")}
        if not disks:
            self.skipTest(f"lsblk finds no drive below {device}")
        self.assertEqual(set(self.drives_below()), disks)

    @needs("ext4")
    @follows_loops()
    def test_a_loop_device_leads_to_the_drive_of_its_file_and_so_do_loops_on_loops(self):
        below = self.drives_below()
        with self.loop(self.image("a.img", 96)) as outer, self.ext4_on(outer, "outer") as point:
            volume = self.volume(self.folder("outer/there"))
            self.assertEqual(drives_of(volume), below)
            self.assertEqual(len(volume["layers"]), 1)
            self.assertRegex(volume["layers"][0], r"^file on \w+ \(loop device(, buffered)?\)$")
            with self.loop(self.image("b.img", folder=point)) as inner:
                with self.ext4_on(inner, "inner"):
                    volume = self.volume(self.folder("inner/there"))
                    self.assertEqual(drives_of(volume), below)
                    self.assertRegex(volume["layers"][0], r"^file on ext4 \(loop device(, buffered)?\)$")

    @needs("ext4")
    @follows_loops()
    def test_a_loop_device_whose_file_is_removed_still_leads_to_the_drive(self):
        below = self.drives_below()
        image = self.image("a.img", 64)
        with self.loop(image) as device, self.ext4_on(device, "there"):
            image.unlink()
            self.assertEqual(drives_of(self.volume(self.folder("there/set"))), below)

    @needs("ext4")
    def test_an_image_leads_to_the_drive(self):
        below = self.drives_below()
        volume = self.volume("image:v.img,size=32M", "--fs", "ext4")
        self.assertEqual(drives_of(volume), below)
        self.assertRegex(volume["layers"][0], r"^file on \w+ \(loop device\)$")

    @needs("ext4")
    @follows_loops()
    def test_a_partition_of_a_loop_device_leads_to_the_drive(self):
        below = self.drives_below()
        image = self.image("parted.img", 64)
        first, sectors = 2048, 40 * MIB // 512
        with open(image, "r+b") as file:  # a table of one partition, as DOS has it
            file.seek(446)
            file.write(struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), first, sectors))
            file.seek(510)
            file.write(b"\x55\xaa")
        device = call("losetup", "--show", "-P", "-f", image).strip()
        try:
            part = device + "p1"
            name = os.path.basename(device)
            if not os.path.exists(f"/sys/block/{name}/{name}p1"):
                self.skipTest("the kernel has no partitions of loop devices")
            if not wait_until(lambda: os.path.exists(part), 10, 0.05):
                self.skipTest("nothing makes the nodes of partitions in /dev")
            volume = self.volume(part, "--fs", "ext4", "--destroy", part)
            self.assertEqual(drives_of(volume), below)
            self.assertEqual(volume["layers"][0], os.path.basename(part) + " (partition)")
            self.assertRegex(volume["layers"][1], r"^file on \w+ \(loop device\)$")
        finally:
            call("losetup", "-d", device)

    @needs("ntfs")
    def test_a_fuse_volume_has_the_identity_of_the_drive_below(self):
        below = self.drives_below()
        volume = self.volume("image:v.img,size=32M", "--fs", "ntfs")
        self.assertEqual(drives_of(volume), below)
        self.assertRegex(volume["layers"][-1], r"^file on \w+")

    @needs("btrfs")
    @follows_loops()
    def test_a_directory_and_an_image_on_btrfs_lead_to_the_drive(self):
        if not kernel_has("btrfs"):
            self.skipTest("the kernel has no btrfs")
        below = self.drives_below()
        with self.loop(self.image("a.img", 300)) as device:
            point = self.folder("btrfs")
            call("mkfs.btrfs", "-q", "-f", device)
            call("mount", "-t", "btrfs", device, point)
            try:
                self.assertEqual(drives_of(self.volume(self.folder("btrfs/there"))), below)
                image = f"image:{point}/v.img,size=32M"
                volume = self.volume(image, "--fs", "ext4")
                self.assertEqual(drives_of(volume), below)
                self.assertEqual(volume["layers"][0], "file on btrfs (loop device)")
            finally:
                call("umount", point)

    @needs("ext4")
    @follows_loops()
    def test_device_mapper_over_two_loop_devices_leads_to_the_drive_once(self):
        if not has_device_mapper():
            self.skipTest("needs device mapper")
        below = self.drives_below()
        name = f"reel-test-{os.getpid()}"
        with self.loop(self.image("a.img")) as a, self.loop(self.image("b.img")) as b:
            sectors = 32 * MIB // 512
            table = f"0 {sectors} linear {a} 0\n{sectors} {sectors} linear {b} 0\n"
            subprocess.run([find("dmsetup"), "create", name], input=table.encode(), check=True)
            try:
                device = f"/dev/mapper/{name}"
                volume = self.volume(device, "--fs", "ext4", "--destroy", device)
                self.assertEqual(drives_of(volume), below)
                self.assertEqual(volume["layers"][0], f"{name} (device mapper)")
            finally:
                call("dmsetup", "remove", "--retry", name)

    @needs("ext4")
    @follows_loops()
    def test_a_mirror_leads_to_the_drive_once(self):
        if not has_md():
            self.skipTest("needs mdadm and the kernel's md")
        below = self.drives_below()
        with self.loop(self.image("a.img")) as a, self.loop(self.image("b.img")) as b:
            device = f"/dev/md/reel-test-{os.getpid()}"
            call("mdadm", "--create", device, "--run", "--level=1", "--raid-devices=2",
                 "--metadata=1.2", a, b)
            try:
                volume = self.volume(device, "--fs", "ext4", "--destroy", device)
                self.assertEqual(drives_of(volume), below)
                self.assertRegex(volume["layers"][0], r"^md\d+ \(raid1 of 2\)$")
            finally:
                call("mdadm", "--stop", device)


class Memory(StackTest):

    def test_it_has_no_drive(self):
        folder = self.memory_folder(64)
        if not in_memory(folder):
            self.skipTest("may not mount a tmpfs")
        volume = self.volume(folder)
        self.assertEqual((volume["drives"], volume["layers"]), ([], []))
        if why_not("ext4") is None:
            volume = self.volume(f"image:{folder}/a.img,size=32M", "--fs", "ext4")
            self.assertEqual(volume["drives"], [])
            self.assertEqual(volume["layers"], ["file on tmpfs (loop device)"])


@needs_share
class Shares(StackTest):
    """A share of sshfs, whose server is a local process instead of ssh."""

    def test_a_share_is_described_and_printed(self):
        with self.share("127.0.0.1") as (point, served):
            (point / "there").mkdir()
            volume = self.volume(point / "there")
        self.assertEqual(volume["network"], {"protocol": "sshfs", "source": f"127.0.0.1:{served}",
                                             "server": "127.0.0.1", "address": "127.0.0.1",
                                             "interface": "lo"})
        self.assertEqual((volume["drives"], volume["layers"]), ([], ["sshfs", "lo"]))
        self.assertEqual((volume["file_system"], volume["driver"]), ("fuse.sshfs", "fuse.sshfs"))
        self.assertIn("user_id=", volume["mount_options"])
        self.assertNotIn("someone", json.dumps(self.result()))
        warnings = {one["code"]: one["text"] for one in self.result()["warnings"]}
        self.assertIn("used the FUSE driver of sshfs", warnings["fuse-driver"])
        shown = self.filereel("show", "r.json").out
        self.assertIn(f"on 127.0.0.1:{served} through sshfs, lo", " ".join(shown.split()))

    def test_the_processor_time_of_the_driver_counts(self):
        with self.share("127.0.0.1") as (point, _):
            self.filereel("run", "--near", point, "--set", self.many_small_files(4, "32 MiB"),
                          "--operations", "create,read", "--runs", "1", "--json", "r.json")
        samples = [one["samples"][0] for one in self.result()["measurements"]]
        self.assertGreater(sum(one["cpu_driver_s"] for one in samples), 0)  # in ticks of 10 ms

    def test_a_driver_that_serves_near_and_far_counts_once(self):
        with self.share("127.0.0.1") as (point, _):
            for name in ("near", "far"):
                (point / name).mkdir()
            self.filereel("run", "--near", point / "near", "--far", point / "far", "--set",
                          self.many_small_files(8, "32 MiB"), "--operations", "create,copy-far", "--runs", "1",
                          "--json", "r.json")
            all_of_it = self.processor_time_of_sshfs(point)
        samples = [one["samples"][0] for one in self.result()["measurements"]]
        self.assertGreater(samples[1]["cpu_driver_s"], 0)
        self.assertLessEqual(sum(one["cpu_driver_s"] for one in samples), all_of_it)

    def processor_time_of_sshfs(self, point):
        """Of the driver that is mounted there, in seconds."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if arguments[0].endswith("sshfs") and str(point) in arguments:
                    times = (process / "stat").read_text().rpartition(")")[2].split()
                    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        self.fail("sshfs does not run")

    def test_a_server_with_a_name_has_no_address_and_no_link(self):
        with self.share("nas.invalid") as (point, served):
            volume = self.volume(point)
        self.assertEqual(volume["network"], {"protocol": "sshfs", "source": f"nas.invalid:{served}",
                                             "server": "nas.invalid"})
        self.assertEqual(volume["layers"], ["sshfs"])

    def test_a_hidden_share_shows_neither_server_nor_path(self):
        with self.share("127.0.0.1") as (point, served):
            there = self.folder("share/127.0.0.1")
            volume = self.volume(there, "--hide-serial")
        for member in "source", "server", "address":
            self.assertRegex(volume["network"][member], "^hidden-[0-9a-f]{8}$")
        self.assertEqual(volume["network"]["protocol"], "sshfs")
        text = json.dumps(self.result())
        self.assertNotIn("127.0.0.1", text)
        self.assertNotIn(str(served), text)

    def test_a_local_fuse_mount_is_no_share(self):
        with self.share("127.0.0.1") as (_, served):
            self.assertNotIn("network", self.volume(served))


class Words(IntegrationTest):

    def run_few(self, *options):
        return self.filereel("run", "--near", self.folder("near"), "--set", self.many_small_files(5),
                             "--operations", "create,read", "--runs", "2", "--json", "r.json",
                             *options)

    def test_label_and_note_are_kept_and_printed_safely(self):
        finished = self.run_few("--label", "fw 1.08 \x1b[31mred\n\u00fc", "--note",
                                b"bad \xff byte".decode(errors="surrogateescape"))
        self.assertIn("label: fw 1.08 \\x1b[31mred\\x0a\u00fc\n", finished.out)
        self.assertIn("note: bad", finished.out)
        self.assertNotIn("\x1b", finished.out)
        result = self.result()
        self.assertEqual(result["label"], "fw 1.08 \x1b[31mred\n\u00fc")
        self.assertIn("byte", result["note"])
        shown = self.filereel("show", "r.json")
        self.assertIn("label: fw 1.08 \\x1b[31mred", shown.out)
        self.assertNotIn("\x1b", shown.out)

    def test_serial_numbers_can_be_hidden_and_drives_are_still_told_apart(self):
        self.run_few()
        open_result = self.result()
        self.assertNotIn("serials_hidden", open_result)
        self.run_few("--hide-serial")
        hidden = self.result()
        self.assertTrue(hidden["serials_hidden"])
        text = json.dumps(hidden)
        for before, after in zip(open_result["volumes"][0]["drives"],
                                 hidden["volumes"][0]["drives"]):
            if before["serial"]:
                self.assertRegex(after["serial"], "^hidden-[0-9a-f]{8}$")
                if len(before["serial"]) > 3:
                    self.assertNotIn(before["serial"], text)
            self.assertEqual(after["model"], before["model"])

    def test_every_sample_has_its_conditions(self):
        self.run_few()
        result = self.result()
        samples = [one for measurement in result["measurements"] for one in measurement["samples"]]
        self.assertEqual(len(samples), 4)
        for sample in samples:
            self.assertLessEqual(set(sample["conditions"]), CONDITIONS)
            self.assertGreater(sample["started_s"], 0)
            self.assertGreater(sample["conditions"]["volume_used"], 0)
            self.assertLessEqual(sample["conditions"]["volume_used"], 1)
        by_time = sorted(samples, key=lambda one: one["started_s"])
        self.assertEqual([one["run"] for one in by_time], [1, 1, 2, 2])
        if result["volumes"][0]["drives"]:
            self.assertIn("idle_device_bytes_per_s", samples[0]["conditions"])
        self.assertEqual([one["code"] for one in result["warnings"]
                          if one["code"] == "too-few-samples"], ["too-few-samples"])

    def test_workloads_and_replays_have_conditions_too(self):
        self.filereel("run", "random-read", "--near", self.folder("near"), "--scale", "0.01",
                      "--time", "300ms", "--runs", "1", "--json", "r.json", "--label", "w")
        workload = self.result()
        self.filereel("replay", "app-file-write.reel", self.folder("far"), "--json", "r.json",
                      "--label", "r", status=None)
        replay = self.result()
        self.assertEqual((workload["label"], replay["label"]), ("w", "r"))
        for result in workload, replay:
            for measurement in result["measurements"]:
                self.assertIn("volume_used", measurement["samples"][0]["conditions"])
                self.assertGreater(measurement["samples"][0]["started_s"], 0)


if __name__ == "__main__":
    main()
