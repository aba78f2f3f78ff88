"""The model drive: kernel file systems work on it, it stalls what its script says, and writes it down."""

import mmap
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from support import call, main, needs, wait_until

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "model_drive"))
from drive import PROGRAM, DriveError, ModelDrive, mounts_of, needs_drive, sysfs  # noqa: E402

MIB = 1 << 20
BLOCK = 4096
SIZE = "300MiB"


def script(**more):
    return {"size": SIZE, **more}


def read_direct(path, offset, length=BLOCK):
    """The bytes, and the nanoseconds it took."""
    buffer = mmap.mmap(-1, length)
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        begin = time.monotonic_ns()
        got = os.preadv(file, [buffer], offset)
        return buffer[:got], time.monotonic_ns() - begin
    finally:
        os.close(file)


def write_direct(path, data, sync=False):
    buffer = mmap.mmap(-1, len(data))
    buffer.write(data)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)
    try:
        written = os.pwritev(file, [buffer], 0)
        if sync:
            os.fsync(file)
        return written
    finally:
        os.close(file)


def is_unused(device):
    """Whether nothing holds it, such as a copy of its mount in another program's namespace."""
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


class DriveTest(unittest.TestCase):

    def drive(self, first_script):
        drive = ModelDrive(first_script)
        self.addCleanup(drive.__exit__)
        return drive.__enter__()

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="model-drive-test-")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def mounted(self, drive, kind="ext4", *options):
        """A fresh file system, until the test ends."""
        call(f"mkfs.{kind}", "-q", *options, drive.device)
        point = self.folder()
        call("mount", "-t", kind, drive.device, point)
        self.addCleanup(call, "umount", point)
        return point


@needs_drive()
class FileSystems(DriveTest):

    @needs("ext4")
    def test_what_ext4_holds_is_read_again_and_a_sync_becomes_a_flush(self):
        drive = self.drive(script())
        file = self.mounted(drive) / "file"
        data = os.urandom(3 * MIB)
        since = drive.set(script())
        self.assertEqual(write_direct(file, data, sync=True), len(data))
        after_write = drive.log(since)
        written = [one for one in after_write if one.kind == "write"]
        flushes = [one for one in after_write if one.kind == "flush" and one.length > 0]
        self.assertGreaterEqual(sum(one.length for one in written), len(data))
        self.assertGreaterEqual(sum(one.length for one in flushes), len(data))
        # The data was on the drive before the flush that makes it safe.
        large = [one for one in written if one.length >= MIB / 4]
        self.assertGreater(max(one.arrival_ns for one in flushes),
                           max(one.completion_ns for one in large))

        since = drive.set(script())
        found, _ = read_direct(file, 0, len(data))
        self.assertEqual(found, data)
        reads = [one for one in drive.log(since) if one.kind == "read"]
        self.assertGreaterEqual(sum(one.length for one in reads), len(data))

    @needs("ext4")
    def test_a_trim_becomes_a_discard(self):
        drive = self.drive(script())
        point = self.mounted(drive)
        since = drive.set(script())
        call("fstrim", point)
        discarded = sum(one.length for one in drive.log(since) if one.kind == "discard")
        self.assertGreater(discarded, 100 * MIB)

    def check_sound(self, kind, check, *options):
        drive = self.drive(script(read={"latency": {"min": 0, "max": "100us"}}, slots=4))
        point = self.mounted(drive, kind, *options)
        contents = {f"file{i}": os.urandom(i * 10_000) for i in range(40)}
        for name, data in contents.items():
            (point / name).write_bytes(data)
        call("umount", point)
        wait_until(lambda: is_unused(drive.device), 60, pause=0.05)
        call(*check, drive.device)
        call("mount", "-t", kind, drive.device, point)
        for name, data in contents.items():
            self.assertEqual((point / name).read_bytes(), data, name)

    @needs("ext4")
    def test_ext4_is_sound(self):
        self.check_sound("ext4", ["e2fsck", "-f", "-n"])

    @needs("xfs")
    def test_xfs_is_sound(self):
        self.check_sound("xfs", ["xfs_repair", "-n", "-f"])

    @needs("btrfs")
    def test_btrfs_is_sound(self):
        self.check_sound("btrfs", ["btrfs", "check"])


@needs_drive()
class Stalls(DriveTest):

    def test_each_tenth_read_stalls_and_no_other_one(self):
        length_ns = 100_000_000
        rules = [{"kinds": ["read"], "length": "100ms", "every": 10}]
        drive = self.drive(script())
        since = drive.set(script(seed=5, stalls=rules))
        # Others may read the device, too, but not there.
        took = {}
        for number in range(40):
            offset = 100 * MIB + number * 3 * BLOCK
            took[offset] = read_direct(drive.device, offset)[1]
        reads = [one for one in drive.log(since) if one.kind == "read"]
        self.assertEqual(sorted(one.number for one in reads), list(range(1, len(reads) + 1)))
        for one in reads:
            stalls = one.number % 10 == 0
            self.assertEqual(one.stalls, (1,) if stalls else (), one)
            self.assertEqual(one.service_ns, length_ns if stalls else 0, one)
            self.assertGreaterEqual(one.taken_ns, one.service_ns, one)
        ours = [one for one in reads if one.offset in took]
        self.assertEqual(len(ours), len(took))
        # Who reads sees each of them, and nothing takes less than the drive says.
        for one in ours:
            self.assertGreaterEqual(took[one.offset], one.taken_ns, one)
        slow = [offset for offset, ns in took.items() if ns >= length_ns]
        stalled = [one.offset for one in ours if one.taken_ns >= length_ns]
        self.assertGreaterEqual(len(stalled), 4)
        self.assertLessEqual(set(stalled), set(slow))

    def test_a_latency_is_a_lower_bound_of_what_is_seen(self):
        drive = self.drive(script())
        latencies = {"read": {"latency": "2ms"}, "write": {"latency": "3ms", "rate": "4MB/s"},
                     "flush": {"latency": "5ms"}}
        since = drive.set(script(**latencies))
        read_direct(drive.device, 100 * MIB)
        write_direct(drive.device, b"x" * BLOCK, sync=True)
        found = {one.kind: one for one in drive.log(since)}
        self.assertEqual(found["read"].service_ns, 2_000_000)
        self.assertEqual(found["write"].service_ns, 3_000_000 + BLOCK * 250)
        self.assertEqual(found["flush"].service_ns, 5_000_000)
        for one in found.values():
            self.assertGreaterEqual(one.taken_ns, one.service_ns)

    def test_the_same_script_decides_the_same_again(self):
        rules = [{"kinds": ["read"], "length": "1ms", "share": 0.3}]
        same = script(seed=9, read={"latency": {"median": "100us", "sigma": 1}}, stalls=rules)
        drive = self.drive(script())
        seen = []
        for _ in range(2):
            since = drive.set(same)
            for number in range(50):
                read_direct(drive.device, 100 * MIB + number * BLOCK)
            reads = sorted((one.number, one.service_ns, one.stalls) for one in drive.log(since)
                           if one.kind == "read")
            seen.append(reads[:50])
        self.assertEqual(seen[0], seen[1])
        self.assertGreater(len({one[1] for one in seen[0]}), 40)

    def test_another_script_is_in_force_at_once_and_a_wrong_one_changes_nothing(self):
        drive = self.drive(script())
        self.assertEqual(drive.log(drive.set(script())), [])
        since = drive.set(script(read={"latency": "7ms"}))
        with self.assertRaisesRegex(DriveError, r"script.yaml:\d+:\d+: 'slots' must be a whole"):
            drive.set(script(slots=0))
        with self.assertRaisesRegex(DriveError, "'size' is 1048576 bytes"):
            drive.set({"size": "1MiB"})
        read_direct(drive.device, 100 * MIB)
        reads = [one for one in drive.log(since) if one.kind == "read"]
        self.assertEqual({one.service_ns for one in reads}, {7_000_000})
        notes = [line.split() for line in (drive.folder / "log").read_text().splitlines()
                 if line.startswith("#")]
        self.assertEqual([note[2] for note in notes[1:]], ["in", "in", "refused:", "refused:"])


@needs_drive()
class Medium(DriveTest):

    def test_writes_are_as_fast_as_the_cache_and_then_as_slow_as_the_script_says(self):
        cache = {"size": "128MiB", "fast": "200MB/s", "slow": "40MB/s"}
        drive = self.drive(script())
        since = drive.set(script(write_cache=cache))
        # In one call, so that requests wait for the path and not the path for requests.
        self.assertEqual(write_direct(drive.device, b"x" * (256 * MIB)), 256 * MIB)
        writes = [one for one in drive.log(since) if one.kind == "write"]
        self.assertEqual(sum(one.length for one in writes), 256 * MIB)
        self.assertEqual(drive.state(),
                         {"cached": 128 * MIB, "in_use": 256 * MIB // BLOCK, "old": 0,
                          "celsius": None})
        # The path serves them in the order of their arrival, and they are logged as they end.
        begin, done = min(one.arrival_ns for one in writes), 0
        for one in writes:
            self.assertGreaterEqual(one.taken_ns, one.service_ns, one)
            done += one.length
            if done >= 64 * MIB:
                wanted_ns = min(done, 128 * MIB) * 5 + max(done - 128 * MIB, 0) * 25
                self.assert_near(one.completion_ns - begin, wanted_ns)

    def test_the_state_of_the_medium_survives_another_script(self):
        cache = {"size": "1MiB", "fast": "1GB/s", "slow": "1GB/s"}
        warm = {"idle": 30, "hottest": 130, "at": "1MB/s", "half_time": "1h",
                "throttle": {"above": 150, "below": 100, "to": "50%"}}
        old = [{"offset": 0, "length": "4MiB", "rate": "1GB/s"}]
        drive = self.drive(script(write_cache=cache, temperature=warm, old_data=old))
        write_direct(drive.device, b"x" * MIB)
        before = drive.state()
        self.assertEqual((before["cached"], before["in_use"], before["old"]),
                         (MIB, MIB // BLOCK, 3 * MIB // BLOCK))
        self.assertGreater(before["celsius"], 30)
        drive.set(script(write_cache=cache, temperature=warm, old_data=old))
        after = drive.state()
        self.assertEqual((after["cached"], after["in_use"], after["old"]),
                         (MIB, MIB // BLOCK, 4 * MIB // BLOCK))
        self.assertAlmostEqual(after["celsius"], before["celsius"], places=1)

    def assert_near(self, found, wanted):
        self.assertLess(abs(found / wanted - 1), 0.02, f"{found} instead of {wanted}")


@needs_drive()
class Program(DriveTest):

    def refused(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Amodel_drive: [^\n]+\n\Z")
        return done.returncode, done.stderr

    def test_what_it_cannot_do_is_one_line(self):
        folder = self.folder()
        good, bad, empty = folder / "good.yaml", folder / "bad.yaml", folder / "empty"
        good.write_text("size: 1MiB\n")
        bad.write_text("size: 1MiB\nread: {latency: 200}\n")
        empty.mkdir()
        for status, words, arguments in (
                (2, "MOUNTPOINT is required", [good]),
                (2, "not an empty folder", [good, folder]),
                (2, "not an empty folder", [good, folder / "nowhere"]),
                (3, "no such file", [folder / "nowhere.yaml", empty]),
                (3, "bad.yaml:2:17: 'latency': '200' has no unit", [bad, empty]),
                (1, "nowhere/log: cannot be made", [good, empty, "--log", folder / "nowhere/log"])):
            code, text = self.refused(*arguments)
            self.assertEqual((code, words in text), (status, True), text)

    def test_a_wrong_script_is_an_exception_and_leaves_nothing(self):
        drive = ModelDrive("size: 1MiB\nstalls: [{length: 1s, share: 2}]\n")
        with self.assertRaisesRegex(DriveError, "script.yaml:2:.* 'share' must be a number from 0 to 1"):
            drive.__enter__()
        self.assertFalse(drive.folder.exists())

    def test_a_signal_ends_it_tidily(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            folder = self.folder()
            (folder / "s").write_text("size: 1MiB\n")
            (folder / "m").mkdir()
            with subprocess.Popen([PROGRAM, folder / "s", folder / "m", "--log", folder / "log"],
                                  stdout=subprocess.PIPE, text=True) as process:
                self.assertEqual(process.stdout.readline(), "ready\n")
                write_direct(folder / "m/drive", b"x" * BLOCK)
                process.send_signal(number)
                self.assertEqual(process.wait(30), 0)
            self.assertFalse(os.path.ismount(folder / "m"))
            self.assertIn(" write 0 4096 0 - 1\n", (folder / "log").read_text())

    def test_requests_in_service_are_answered_when_it_ends(self):
        folder = self.folder()
        (folder / "s").write_text("size: 1MiB\nread: {latency: 1h}\n")
        (folder / "m").mkdir()
        with subprocess.Popen([PROGRAM, folder / "s", folder / "m", "--log", folder / "log"],
                              stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            opened = os.open(folder / "m/drive", os.O_RDONLY | os.O_DIRECT)
            file = os.dup2(opened, 77)  # a number that shows in its system call
            os.close(opened)
            self.addCleanup(os.close, file)
            code = f"import mmap, os; os.preadv({file}, [mmap.mmap(-1, {BLOCK})], 0)"
            with subprocess.Popen([sys.executable, "-c", code], pass_fds=[file]) as reader:
                sleeps = wait_until(lambda: f" {file:#x} " in pathlib.Path(
                    f"/proc/{reader.pid}/syscall").read_text(), 10)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(reader.wait(30), 0)
            self.assertEqual(process.wait(30), 0)
        self.assertTrue(sleeps)
        self.assertIn(" read 0 4096 3600000000000 - 1\n", (folder / "log").read_text())

    @needs("ext4")
    def test_nothing_is_left_after_an_exception_with_a_file_system_mounted(self):
        point = self.folder()
        with self.assertRaises(KeyboardInterrupt), ModelDrive(script()) as drive:
            call("mkfs.ext4", "-q", drive.device)
            call("mount", drive.device, point)
            (point / "file").write_bytes(os.urandom(MIB))
            self.assertEqual(mounts_of(drive.device), [str(point)])
            raise KeyboardInterrupt
        self.assertFalse(os.path.ismount(point))
        self.assertFalse(drive.folder.exists())
        self.assertIsNotNone(drive.process.returncode)
        self.assertNotIn(str(drive.folder), sysfs(drive.device, "loop/backing_file") or "")

    def test_a_killed_test_leaves_neither_drive_nor_device(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import drive, time\n"
                "with drive.ModelDrive('size: 1MiB') as one:\n"
                "    print(one.process.pid, one.device, one.folder, flush=True); time.sleep(600)\n")
        module = pathlib.Path(sys.modules[ModelDrive.__module__].__file__).parent
        with subprocess.Popen([sys.executable, "-c", code, module], stdout=subprocess.PIPE,
                              text=True) as test:
            pid, device, folder = test.stdout.readline().split()
            self.addCleanup(call, "rm", "-rf", folder)
            test.kill()
        self.assertTrue(wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 10))
        self.assertTrue(wait_until(
            lambda: folder not in (sysfs(device, "loop/backing_file") or ""), 10))
        self.assertFalse(os.path.ismount(f"{folder}/mount"))


if __name__ == "__main__":
    main()
