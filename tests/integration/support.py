"""What the integration tests share: scratch folders, runs of filereel, mounts, and the check that
nothing of filereel's is left behind."""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

FILEREEL = os.environ.get("FILEREEL", "filereel")
if "/" in FILEREEL:
    FILEREEL = os.path.abspath(FILEREEL)  # the tests run in folders of their own
SFTP_SERVER = "/usr/lib/openssh/sftp-server"
SKIPPED = os.environ.get("FILEREEL_SKIPPED")  # the folder that tests/list_skipped reads
THOROUGH = os.environ.get("FILEREEL_THOROUGH") == "1"
THOROUGH_ONLY = "thorough: "  # how the reason of such a skip begins
STEPS = ["create", "read", "copy-near", "copy-far", "delete"]

# In the background of a shell, or under nohup, these would be ignored by all that is started here.
for ending in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(ending) == signal.SIG_IGN:
        signal.signal(ending, signal.SIG_DFL)

# What is needed to make, mount by hand and check each file system: the program that makes it, the
# kernel's name for it, the FUSE command that serves a device, and the check that changes nothing.
FILE_SYSTEMS = {
    "ext4": ("mkfs.ext4", "ext4", None, ["e2fsck", "-f", "-n"]),
    "ntfs": ("mkfs.ntfs", "ntfs3", ["ntfs-3g"], ["ntfsfix", "-n"]),
    "fat32": ("mkfs.vfat", "vfat", ["fusefat", "-o", "rw+"], ["fsck.vfat", "-n"]),
    "xfs": ("mkfs.xfs", "xfs", None, ["xfs_repair", "-n", "-f"]),
    "btrfs": ("mkfs.btrfs", "btrfs", None, ["btrfs", "check"]),
    "exfat": ("mkfs.exfat", "exfat", ["mount.exfat-fuse"], ["fsck.exfat", "-n"]),
}


def import_formats():
    """The names of formats in the help of import."""
    done = subprocess.run([FILEREEL, "import", "--help"], capture_output=True, text=True, check=True,
                          timeout=60)
    return re.findall(r"^  (\S+) ", done.stdout.partition("\nFormats:\n")[2].partition("\n\n")[0],
                      re.MULTILINE)


def have(*programs):
    return all(find(program) for program in programs)


def find(program):
    folders = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    return shutil.which(program, path=folders)


def kernel_has(kind):
    with open("/proc/filesystems") as lines:
        return kind in [line.split()[-1] for line in lines]


def why_not(*kinds):
    """Why these file systems cannot be tested here; None if they can."""
    if os.geteuid() != 0:
        return "needs root"
    if not os.path.exists("/dev/loop-control"):
        return "needs loop devices"
    for kind in kinds:
        maker, kernel_name, fuse, check = FILE_SYSTEMS[kind]
        if not have(maker, check[0]):
            return f"{kind}: {maker} or {check[0]} is missing"
        if not kernel_has(kernel_name):
            if not (fuse and have(fuse[0]) and os.path.exists("/dev/fuse")):
                return f"{kind}: no driver"
    return None


def needs_share(test):
    """For tests with IntegrationTest.share."""
    reason = (f"needs sshfs and {SFTP_SERVER}"
              if not have("sshfs", "fusermount3") or not os.path.exists(SFTP_SERVER)
              else "may not use /dev/fuse" if not os.access("/dev/fuse", os.W_OK) else None)
    return unittest.skipIf(reason is not None, reason or "")(test)


def needs(*kinds):
    reason = why_not(*kinds)
    return unittest.skipIf(reason is not None, reason or "")


def thorough(what):
    """Marks what adds thoroughness to tests that run always: tools/test --thorough runs it."""
    return unittest.skipUnless(THOROUGH, THOROUGH_ONLY + what)


def in_chroot():
    """Whether / is not the root of the mount namespace, which entering it again leads to."""
    def root(*wrap):
        return call(*wrap, "stat", "-c", "%d:%i", "/", status=None)
    return have("nsenter") and root() != root("nsenter", "--mount=/proc/self/ns/mnt")


def no_bpf():
    """Why there is no recording with BPF here; None if there is."""
    told = re.search(r"^recording +(.*)", call(FILEREEL, "doctor"), re.MULTILINE)[1]
    return None if "with BPF" in told else f"needs BPF: {told}"


def call(*command, status=0, **options):
    """Runs a program to its end, and gives what it printed."""
    done = subprocess.run([find(command[0]) or command[0], *map(str, command[1:])],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=120, **options)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{command} exited with {done.returncode}: {done.stdout}")
    return done.stdout


def in_memory(folder):
    """Whether it lies on a tmpfs: never cold, on no drive, and without the rules of disks."""
    return call("stat", "-f", "-c", "%T", folder).strip() in ("tmpfs", "ramfs")


def scratch_folder():
    """Where temporary files belong; beside that, on a disk, where that is memory."""
    usual = tempfile.gettempdir()
    return next((one for one in (usual, "/var/tmp") if os.access(one, os.W_OK | os.X_OK)
                 and not in_memory(one)), usual)


def sees_mount(folder):
    """Whether the mount that it lies on is listed: in a chroot it need not be."""
    with open("/proc/self/mountinfo") as mounts:
        points = [line.split()[4] for line in mounts]
    nearest = max((point for point in points if pathlib.Path(folder).is_relative_to(point)),
                  key=len, default=None)
    return nearest is not None and os.stat(nearest).st_dev == os.stat(folder).st_dev


def needs_disk():
    """For tests of drives and of caches."""
    return unittest.skipIf(in_memory(SCRATCH),
                           f"{SCRATCH} lies in memory, and TMPDIR names no folder on a disk")


def wait_until(condition, seconds, pause=0.002):
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(pause)


@contextlib.contextmanager
def forgetting():
    """The kernel forgets all files that nobody has open, all the time, as it does when it needs memory:
    drivers of FUSE then give them other inode numbers."""
    if not os.access("/proc/sys/vm/drop_caches", os.W_OK):
        raise unittest.SkipTest("may not drop caches")
    process = subprocess.Popen(
        ["sh", "-c", f"while [ -d /proc/{os.getpid()} ] && echo 2 > /proc/sys/vm/drop_caches; "
                     "do sleep 0.001; done"])
    try:
        yield
        if process.poll() is not None:
            raise AssertionError("dropping caches ended")
    finally:
        process.kill()
        process.wait()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def paths_below(folder):
    """Every path below `folder`, as it is and as bytes relative to it."""
    folder = os.fsencode(folder)
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            yield path, os.path.relpath(path, folder)


def tree_digests(folder):
    """Every path below `folder` with what it is: the digest of a file, the text of a link."""
    found = {}
    for path, relative in paths_below(folder):
        if os.path.islink(path):
            found[relative] = b"-> " + os.readlink(path)
        else:
            found[relative] = "folder" if os.path.isdir(path) else digest(path)
    return found


def tree_shape(folder):
    """Every path below `folder` with its kind and, for files, its size."""
    found = {}
    for path, relative in paths_below(folder):
        if os.path.islink(path):
            found[relative] = ("link", os.readlink(path))
        elif os.path.isdir(path):
            found[relative] = ("folder",)
        elif os.path.isfile(path):
            found[relative] = ("file", os.path.getsize(path))
    return found


def mounted_below(folder):
    """Where something is mounted in or on the folder, the last first."""
    with open("/proc/mounts") as mounts:
        points = [line.split()[1] for line in mounts]
    return [point for point in reversed(points) if f"{point}/".startswith(f"{folder}/")]


def remove_tree(folder):
    """Removes a scratch folder, but nothing that is mounted there, which may be the machine's own."""
    for point in mounted_below(folder):
        call("umount", "-l", point, status=None)
    if mounted_below(folder):
        raise AssertionError(f"{folder} is left: something is mounted below it")
    shutil.rmtree(folder, ignore_errors=True)


def attached_loops(below):
    """Loop devices whose image lies below the folder."""
    found = {}
    for entry in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            image = entry.read_text().strip()
            if image.startswith(str(below) + "/"):
                found["/dev/" + entry.parts[3]] = image
    return found


def processes_with(text):
    """Processes with the text in their environment or command line, but not this one."""
    found = {}
    text = os.fsencode(text)
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read()
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = file.read()
            if text in command or text in environment:
                with open(f"/proc/{entry}/stat") as file:
                    state, parent = file.read().rpartition(")")[2].split()[:2]
                words = command.replace(b"\0", b" ").decode(errors="replace")
                found[int(entry)] = f"{words}(state {state}, parent {parent})"
    return found


SCRATCH = scratch_folder()


class Finished:
    """What a run of filereel came to."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Running:
    """A filereel that runs, and what can be seen of it from outside."""

    def __init__(self, process, folder):
        self.process, self.folder, self.pid = process, folder, process.pid

    def mount_point(self, role="near"):
        """As this process sees it, although the mount lies in a namespace of filereel's own."""
        folder = f"/proc/{self.pid}/root{self.folder}"
        name = f"mount-{self.pid}-{role}-"
        with contextlib.suppress(OSError):
            for found in os.listdir(folder):
                if found.startswith(name):
                    return os.path.join(folder, found)
        return os.path.join(folder, name + "not-there")

    def children(self):
        with contextlib.suppress(OSError):
            with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
                return [int(pid) for pid in file.read().split()]
        return []

    def ended(self):
        return self.process.poll() is not None

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def finish(self, timeout=60):
        out, err = self.process.communicate(timeout=timeout)
        return Finished(self.process.returncode, out.decode(errors="replace"),
                        err.decode(errors="replace"))


def mount_image(image, point, megabytes, *options):
    """Makes an ext4 in a sparse file and mounts it on a new folder, which the kernel detaches from
    its loop device when it is unmounted."""
    os.mkdir(point)
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    call("mkfs.ext4", "-q", "-F", "-b", "4096", image)
    call("mount", "-t", "ext4", "-o", ",".join(["loop", *options]), image, point)


def free_memory():
    """MiB that programs could still take."""
    with open("/proc/meminfo") as lines:
        return int(re.search(r"MemAvailable: +(\d+)", lines.read())[1]) >> 10


class IntegrationTest(unittest.TestCase):
    """Works in a scratch folder of its own class; fails if filereel leaves anything there."""

    maxDiff = 2000
    # Where the scratch folder lies: in memory, on an ext4 of so many MiB, where that can be had, so
    # that neither the disk nor its other users slow anything down; on the disk where it is 0.
    memory = 2000

    @classmethod
    def setUpClass(cls):
        if not shutil.which(FILEREEL):
            raise AssertionError(f"there is no {FILEREEL}: set FILEREEL to the binary")
        cls.base = cls.make_base()
        cls.addClassCleanup(cls.clear)
        cls.pids = []
        cls.state = cls.base + "/state"
        cls.number = 0

    @classmethod
    def make_base(cls):
        folder = tempfile.mkdtemp(prefix="reel-integration-", dir=SCRATCH)
        os.chmod(folder, 0o755)
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        if not cls.memory or why_not("ext4") or free_memory() < 2 * cls.memory:
            return folder
        volume = folder + "/v"
        call("mount", "-t", "tmpfs", "-o", f"mode=755,size={cls.memory + 100}M", "tmpfs", folder)
        cls.addClassCleanup(call, "umount", "-l", folder)
        mount_image(folder + "/image", volume, cls.memory, "discard")
        cls.addClassCleanup(call, "umount", "-l", volume, status=None)
        return volume

    @classmethod
    def tearDownClass(cls):
        wait_until(lambda: not cls.left_behind(), 30, 0.05)
        left = cls.left_behind()
        if left:
            raise AssertionError("left behind: " + "; ".join(left))

    @classmethod
    def left_behind(cls):
        left = [f"{device} on {image}" for device, image in attached_loops(cls.base).items()]
        own = [cls.base, *(f"/mount-{pid}-" for pid in cls.pids)]
        with open("/proc/mounts") as mounts:
            left += ["mount " + line.strip() for line in mounts
                     if any(one in line for one in own) and line.split()[1] != cls.base]
        with contextlib.suppress(FileNotFoundError):
            left += ["folder " + name for name in os.listdir(cls.state) if name.startswith("mount-")]
        left += [f"process {pid}: {command}" for pid, command in processes_with(cls.base).items()]
        return left

    @classmethod
    def clear(cls):
        for pid in processes_with(cls.base):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for device in attached_loops(cls.base):
            call("losetup", "-d", device, status=None)
        remove_tree(cls.base)

    def setUp(self):
        type(self).number += 1
        self.scratch = pathlib.Path(self.base, f"t{self.number}")
        self.scratch.mkdir()
        self.addCleanup(remove_tree, self.scratch)

    def environment(self, **changes):
        return {**os.environ, "FILEREEL_STATE_DIR": self.state, "NO_COLOR": "1", **changes}

    def start(self, *arguments, wrap=(), env=None, cwd=None):
        process = subprocess.Popen([*wrap, FILEREEL, *map(str, arguments)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=cwd or self.scratch,
                                   env=env or self.environment())
        self.pids.append(process.pid)
        running = Running(process, self.state)

        def stop():
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.addCleanup(stop)
        return running

    def filereel(self, *arguments, status=0, timeout=120, **options):
        finished = self.start(*arguments, **options).finish(timeout)
        if status is not None:
            self.assertEqual(finished.code, status, finished)
        return finished

    def assert_refused(self, finished, status, *words):
        """It failed with that status and one line of text that holds the words."""
        self.assertEqual(finished.code, status, finished)
        notices = re.compile(r"\d+ measurements?: a verdict at|estimated time: ")
        lines = [line for line in finished.err.splitlines() if not notices.match(line)]
        self.assertEqual(len(lines), 1, finished)
        self.assertTrue(lines[0].startswith("filereel: "), finished)
        for word in words:
            self.assertIn(str(word), lines[0])

    def assert_nothing_left(self):
        """Right after a run, while the test goes on."""
        wait_until(lambda: not self.left_behind(), 5, 0.05)
        self.assertEqual(self.left_behind(), [])

    def result(self, name="r.json"):
        with open(self.scratch / name) as file:
            return json.load(file)

    @contextlib.contextmanager
    def share(self, host="127.0.0.1", options=()):
        """A share of sshfs, whose server is a local process instead of ssh: where it is mounted, and
        the directory that is served."""
        served, point = self.folder("served"), self.folder("share")
        server = self.scratch / "server"
        server.write_text(f"#!/bin/sh\necho $$ > '{self.scratch}/server.pid'\nexec {SFTP_SERVER}\n")
        server.chmod(0o755)
        call("sshfs", "-o", f"ssh_command={server}", *options, f"someone@{host}:{served}", point)
        try:
            yield point, served
        finally:  # a process that waited for it may still look at it
            wait_until(lambda: subprocess.call(["fusermount3", "-u", point],
                                               stderr=subprocess.DEVNULL) == 0
                       or not os.path.ismount(point), 10, 0.05)
            if os.path.ismount(point):
                call("fusermount3", "-u", "-z", point)

    def work_folder(self, volume):
        """What filereel works in while it uses a directory as a volume: on a share one level deeper."""
        with contextlib.suppress(OSError):
            for name in os.listdir(volume):
                if name.startswith(".filereel-"):
                    work = pathlib.Path(volume, name)
                    inner = [one for one in os.listdir(work) if re.fullmatch("[0-9a-f]{32}", one)]
                    return work / inner[0] if inner else work
        return pathlib.Path(volume, ".filereel-not-there")

    def leases(self):
        """What `filereel clean --list` says of the scratch folder, as (state, kind, path)."""
        lines = self.filereel("clean", "--list").out.splitlines()
        found = [tuple(re.split("  +", line, 2)) for line in lines if line != "nothing"]
        return [lease for lease in found if lease[2].startswith(f"{self.scratch}/")]

    def steps_measured(self, name="r.json"):
        """How many steps a running filereel has measured so far."""
        try:
            return sum(len(one["samples"]) for one in self.result(name)["measurements"])
        except (OSError, ValueError):
            return 0

    def write_set(self, text, name="set.yaml"):
        path = self.scratch / name
        path.write_text(text)
        return path

    def many_small_files(self, count=1500, size="8 KiB"):
        return self.write_set(f"name: many\ngroups:\n  - count: {count}\n    size: {size}\n")

    def kill_run_on(self, target):
        """While it makes files there."""
        for attempt in range(8):  # it may be over before: then with twice the files
            running = self.start("run", "--near", target, "--set",
                                 self.many_small_files(500 << attempt), "--runs", "1")
            wait_until(lambda: (self.work_folder(target) / "original").exists() or running.ended(),
                       60, 0.001)
            running.kill()
            if running.finish().code == -signal.SIGKILL:
                return
        self.fail("the run was over each time")

    def check_clean(self, kind, image):
        call(*FILE_SYSTEMS[kind][3], image)

    def folder(self, name):
        path = self.scratch / name
        path.mkdir(exist_ok=True)
        return path

    def memory_folder(self, megabytes):
        """A folder on a tmpfs, or where none can be mounted an ordinary one."""
        folder = self.folder("memory")
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}M", "tmpfs", folder]
        if os.geteuid() == 0 and subprocess.call(mount, stderr=subprocess.DEVNULL) == 0:
            self.addCleanup(call, "umount", "-l", folder)
        return folder

    @contextlib.contextmanager
    def loop(self, image):
        device = call("losetup", "--show", "-f", image).strip()
        try:
            yield device
        finally:
            call("losetup", "-d", device)
            wait_until(lambda: device not in attached_loops(self.base), 5, 0.02)

    @contextlib.contextmanager
    def mounted(self, kind, image, read_only=True):
        """The image's file system, mounted without filereel."""
        point = tempfile.mkdtemp(dir=self.scratch)
        _, kernel_name, fuse, _ = FILE_SYSTEMS[kind]
        driver = None
        with contextlib.ExitStack() as stack:
            device = stack.enter_context(self.loop(image))
            if kernel_has(kernel_name):
                call("mount", "-t", kernel_name, "-o", "ro" if read_only else "rw", device, point)
            else:
                # Its environment names the scratch folder, so that a stray one is seen and ended.
                driver = subprocess.Popen([find(fuse[0]), *fuse[1:], *self.foreground(fuse[0]),
                                           device, point], env=self.environment(),
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if not wait_until(lambda: os.path.ismount(point), 10):
                    driver.kill()
                    raise AssertionError(f"{fuse[0]} does not mount {image}")
            try:
                yield pathlib.Path(point)
            finally:
                if not wait_until(lambda: subprocess.call(["umount", point],
                                                          stderr=subprocess.DEVNULL) == 0, 5, 0.05):
                    call("umount", "-l", point)
                if driver:
                    driver.wait(30)
                os.rmdir(point)

    @staticmethod
    def foreground(program):
        return {"ntfs-3g": ["-o", "no_detach"], "mount.exfat-fuse": ["-d"]}.get(program, ["-f"])

    @contextlib.contextmanager
    def ext4_volume(self, megabytes, label="DATA", options="rw", name="volume", make=()):
        """A small ext4 with a label of its own, mounted on a folder."""
        image, point = self.scratch / f"{name}.ext4", self.folder(name)
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        call("mkfs.ext4", "-q", "-F", "-b", "4096", "-L", label, *make, image)
        with self.loop(image) as device:
            call("mount", "-t", "ext4", "-o", options, device, point)
            try:
                yield point
            finally:
                call("umount", "-l", point, status=None)
                wait_until(lambda: not os.path.ismount(point), 5)


class VolumesTest(IntegrationTest):
    """Has ext4 volumes for all its tests, by the names and sizes in `volumes`; each test empties
    the folders that it uses."""

    volumes = {}  # name: MiB

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.points = []
        cls.addClassCleanup(cls.unmount)
        for name, megabytes in cls.volumes.items():
            mount_image(f"{cls.base}/{name}.ext4", f"{cls.base}/{name}", megabytes)
            cls.points.append(f"{cls.base}/{name}")

    @classmethod
    def unmount(cls):
        while cls.points:
            call("umount", "-l", cls.points.pop(), status=None)

    @classmethod
    def tearDownClass(cls):
        cls.unmount()
        super().tearDownClass()

    def fresh(self, volume, name):
        """An empty folder on a volume. The volume itself has lost+found."""
        folder = pathlib.Path(self.base, volume, name)
        call("rm", "-rf", folder)
        folder.mkdir()
        return folder


def numbers(text):
    """Those of a course: base64 of a zlib stream of ZigZag LEB128, negative ones for runs of zeros."""
    values, at, packed = [], 0, zlib.decompress(base64.b64decode(text))
    while at < len(packed):
        value = shift = 0
        while True:
            byte = packed[at]
            at += 1
            value |= (byte if shift == 56 else byte & 0x7f) << shift
            shift += 7
            if shift > 56 or byte < 0x80:
                break
        value = value >> 1 ^ -(value & 1)
        values += [value] if value >= 0 else [0] * -value
    return values


def packed(values):
    """The inverse of numbers(), without runs of zeros."""
    coded = bytearray()
    for value in values:
        value <<= 1
        while value >= 0x80:
            coded.append(value & 0x7f | 0x80)
            value >>= 7
        coded.append(value)
    return base64.b64encode(zlib.compress(bytes(coded))).decode()


def main():
    """Runs the tests of the script and lists those that were skipped, a line each."""
    if SKIPPED:
        script = pathlib.Path(sys.argv[0]).stem
        listed = pathlib.Path(SKIPPED, "integration_" + script.removesuffix("_test"))
        listed.parent.mkdir(parents=True, exist_ok=True)
        listed.unlink(missing_ok=True)
    result = unittest.main(verbosity=2, exit=False).result
    if SKIPPED and result.skipped:
        listed.write_text("".join(f"{test.id().removeprefix('__main__.')}\t{reason}\n"
                                  for test, reason in result.skipped))
    sys.exit(not result.wasSuccessful())
