"""The model drive as a block device, for tests and for the scripts in tests/peers; see README.md.

    with ModelDrive({"size": "1GiB", "read": {"latency": "200us"}}) as drive:
        call("mkfs.ext4", "-q", drive.device)
        since = drive.set({"size": "1GiB", "stalls": [{"length": "300ms", "every": 100}]})
        …
        stalled = [one for one in drive.log(since) if one.stalls]
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import selectors
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MODEL_DRIVE", str(ROOT / "build/release/tests/model_drive/model_drive"))
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
ANSWER_S = 30  # for what takes milliseconds
DETACH_S = 20  # for what the file systems on it still have to write
LOOP_MAJOR = 7


class DriveError(Exception):
    """What the program says, or what is wrong with the loop device."""


@dataclasses.dataclass(frozen=True)
class Operation:
    """A line of the log. Times are nanoseconds of time.monotonic_ns()."""

    arrival_ns: int
    completion_ns: int
    kind: str  # read, write, flush, discard
    offset: int
    length: int
    service_ns: int  # intended: latency, path, transfer and stalls, without waiting for a slot
    stalls: tuple  # numbers of the rules in the script, from 1
    number: int  # of its kind since the script is in force; 0 for a flush of nothing

    @property
    def taken_ns(self):
        return self.completion_ns - self.arrival_ns


def why_not():
    """Why there is no model drive here; None if there is."""
    if os.geteuid() != 0:
        return "needs root"
    if not PROGRAM or not os.path.exists(PROGRAM):
        return "needs the model drive, which is built where libfuse 3 is (libfuse3-dev)"
    for device, name in (("/dev/loop-control", "loop devices"), ("/dev/fuse", "FUSE")):
        if not os.path.exists(device):
            return f"needs {name}"
    for program in ("losetup", "setpriv"):
        if not shutil.which(program, path=PATH):
            return f"needs {program}"
    return None


def needs_drive():
    """Marks tests and classes of tests."""
    reason = why_not()
    return unittest.skipIf(reason is not None, reason or "")


class ModelDrive:
    """Runs from `with` to its end, and leaves nothing: neither a process nor a mount, a loop device
    or a file. Should this process be killed, the drive ends, too, and the kernel detaches the device
    as soon as nothing is mounted on it.

    script     a dictionary, or YAML
    device     the path of the block device, such as /dev/loop3
    """

    def __init__(self, script):
        self.first_script = script
        self.device = None
        self._cleanup = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as cleanup:
            self._start(cleanup)
            self._attach(cleanup)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_):
        self._cleanup.close()

    def set(self, script):
        """Puts another script of the same size into force, and gives the time from which it is."""
        self._write(script)
        self.process.send_signal(signal.SIGHUP)
        answer = self._answer("in force", "refused")
        if answer == "refused":
            raise DriveError(self._complaint())
        return int(answer.split()[-1])

    def log(self, since=0):
        """The operations that were done, of those that arrived at that time or later, in the order of
        their completion."""
        self.process.send_signal(signal.SIGUSR1)
        self._answer("flushed")
        with open(self.folder / "log") as lines:
            found = [operation_of(line) for line in lines if not line.startswith("#")]
        return [one for one in found if one.arrival_ns >= since]

    def state(self):
        """The medium now: `cached` (bytes), `in_use` and `old` (blocks), `celsius` (None without)."""
        self.process.send_signal(signal.SIGUSR1)
        words = self._answer("flushed").split()[1:]
        found = dict(zip(words[::2], words[1::2]))
        celsius = found.pop("celsius")
        return {**{name: int(value) for name, value in found.items()},
                "celsius": None if celsius == "-" else float(celsius)}

    def _write(self, script):
        text = script if isinstance(script, str) else json.dumps(script, indent=1)
        new = self.folder / "script.new"
        new.write_text(text)
        new.replace(self.folder / "script.yaml")

    def _start(self, cleanup):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="model-drive-"))
        cleanup.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._write(self.first_script)
        mount = self.folder / "mount"
        mount.mkdir()
        self._errors = cleanup.enter_context(open(self.folder / "errors", "w+"))
        # Ctrl-C is for this process, which takes down what lies on the drive before the drive.
        self.process = subprocess.Popen(
            [shutil.which("setpriv", path=PATH), "--pdeathsig", "TERM", PROGRAM,
             self.folder / "script.yaml", mount, "--log", self.folder / "log"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors,
            start_new_session=True)
        cleanup.callback(self._stop, mount)
        self._unread = b""
        self._answer("ready")

    def _stop(self, mount):
        self.process.terminate()
        try:
            self.process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if os.path.ismount(mount) or self.process.returncode != 0:  # killed
            subprocess.run(["umount", "-l", mount], stderr=subprocess.DEVNULL, check=False)

    def _answer(self, *beginnings):
        """Waits for a line with one of these beginnings on its standard output, and gives it."""
        deadline = time.monotonic() + ANSWER_S
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                line, end, rest = self._unread.partition(b"\n")
                if end:
                    self._unread = rest
                    if line.decode().startswith(beginnings):
                        return line.decode()
                    continue
                if not ready.select(deadline - time.monotonic()):
                    raise DriveError(f"no answer in {ANSWER_S} s")
                some = os.read(self.process.stdout.fileno(), 4096)
                if not some:
                    self.process.wait()
                    raise DriveError(self._complaint() or f"ended with {self.process.returncode}")
                self._unread += some

    def _complaint(self):
        """The last line that it wrote on standard error."""
        self._errors.seek(0)
        return (self._errors.read().splitlines() or [""])[-1]

    def _attach(self, cleanup):
        make_loop_node()
        self.device = losetup("--find", "--show", "--direct-io=on", self.folder / "mount/drive")
        cleanup.callback(wait_detached, self.device, self.folder)
        holder = None
        try:
            holder = os.open(self.device, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            # While it is open this means: detach it after the last close, whoever's that is.
            losetup("--detach", self.device)
        cleanup.callback(self._let_go, holder)
        if sysfs(self.device, "loop/dio") != "1":
            raise DriveError(f"{self.device}: the loop driver refuses direct I/O on FUSE here")

    def _let_go(self, holder):
        """Unmounts what is on it, and closes it. A drive that takes too long is ended first: what waits
        for it gets errors then."""
        impatience = threading.Timer(DETACH_S, self.process.kill)
        impatience.start()
        try:
            for point in mounts_of(self.device):
                subprocess.run(["umount", point], stderr=subprocess.DEVNULL, check=False)
            for point in mounts_of(self.device):
                subprocess.run(["umount", "-l", point], stderr=subprocess.DEVNULL, check=False)
            os.close(holder)
        finally:
            impatience.cancel()


def operation_of(line):
    arrival, completion, kind, offset, length, service, stalls, number = line.split()
    rules = () if stalls == "-" else tuple(map(int, stalls.split("+")))
    return Operation(int(arrival), int(completion), kind, int(offset), int(length), int(service),
                     rules, int(number))


def losetup(*arguments):
    done = subprocess.run([shutil.which("losetup", path=PATH), *arguments], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise DriveError(done.stderr.strip())
    return done.stdout.strip()


def make_loop_node():
    """In a container the kernel's new loop devices have no node."""
    device = losetup("--find")
    if not os.path.exists(device):
        number = int(device.removeprefix("/dev/loop"))
        with contextlib.suppress(FileExistsError):
            os.mknod(device, stat.S_IFBLK | 0o660, os.makedev(LOOP_MAJOR, number))


def sysfs(device, name):
    """What the kernel says of the device; None if nothing."""
    with contextlib.suppress(OSError):
        return pathlib.Path("/sys/block", os.path.basename(device), name).read_text().strip()
    return None


def mounts_of(device):
    """Where it is mounted, the last first."""
    number = os.stat(device).st_rdev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    with open("/proc/self/mountinfo") as mounts:
        found = [line.split() for line in mounts]
    # btrfs has a number of its own, and names the device.
    return [fields[4].replace("\\040", " ") for fields in reversed(found)
            if fields[2] == wanted or fields[fields.index("-") + 2] == device]


def wait_detached(device, folder):
    """The kernel detaches it a moment after its last close."""
    deadline = time.monotonic() + DETACH_S
    while (sysfs(device, "loop/backing_file") or "").startswith(f"{folder}/"):
        if time.monotonic() > deadline:
            raise DriveError(f"{device} is still in use; find out by whom, and detach it")
        time.sleep(0.01)
