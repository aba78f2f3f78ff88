#!/usr/bin/env python3
"""Limits of the process and its control group: defaults follow, or one line names the limit."""

import contextlib
import os
import pathlib
import resource
import subprocess
import tarfile
import unittest

from support import FILEREEL, IntegrationTest, main

SECONDS = 120  # against hangs
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def records_with_bpf():
    done = subprocess.run([FILEREEL, "doctor"], capture_output=True, text=True)
    return "with BPF in the kernel" in done.stdout


class Limited(IntegrationTest):

    memory = 400

    def limited(self, limits, *arguments, before=lambda: None):
        """Runs filereel with limits by resource; gives exit code, output and lines of error."""
        def apply():
            before()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for which, value in limits.items():
                resource.setrlimit(which, (value, value))
        done = subprocess.run([FILEREEL, *map(str, arguments)], capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, cwd=self.scratch,
                              env=self.environment(), preexec_fn=apply, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr.splitlines()

    def works(self, limits, *arguments, **options):
        code, out, lines = self.limited(limits, *arguments, **options)
        self.assertEqual(code, 0, (out, lines))
        return out, lines

    def refused(self, words, limits, *arguments, **options):
        code, out, lines = self.limited(limits, *arguments, **options)
        self.assertEqual((code, len(lines)), (1, 1), (out[-500:], lines))
        self.assertIn(words, lines[0])

    def archive(self, files, size):
        """An archive of files of zeros, which take no memory to make."""
        with tarfile.open(self.scratch / "many.tar", "w") as tar:
            for number in range(files):
                entry = tarfile.TarInfo(f"f{number}")
                entry.size = size
                with open("/dev/zero", "rb") as zeros:
                    tar.addfile(entry, zeros)
        (self.scratch / "there").mkdir()
        return "tar", "xf", "many.tar", "-C", "there"


class Stack(Limited):

    def test_a_small_stack_suffices(self):
        for limit in (64 << 10, 128 << 10):
            with self.subTest(limit):
                small = {resource.RLIMIT_STACK: limit}
                self.works(small, "run", "iso", "--scale", "0.001", "--near", "near", "--runs", "1")
                self.works(small, "record", "-o", "a.reel", "--", "sh", "-c", "echo > a")
                self.works(small, "replay", "a.reel", "near", "--engine", "io_uring")

    def test_a_recorded_program_keeps_its_limit(self):
        self.works({resource.RLIMIT_STACK: 128 << 10}, "record", "-o", "a.reel", "--",
                   "sh", "-c", "ulimit -s > kept")
        self.assertEqual((self.scratch / "kept").read_text(), "128\n")


class Descriptors(Limited):

    few = {resource.RLIMIT_NOFILE: 12}

    def test_the_limit_is_named(self):
        (self.scratch / "set").mkdir()
        for arguments in (("run", "iso", "--scale", "0.001", "--near", "near", "--runs", "1"),
                          ("run", "random-read", "--scale", "0.001", "--near", "image:i,size=64M"),
                          ("record", "-o", "a.reel", "--", "true"),
                          ("record", "--backend", "strace", "-o", "a.reel", "--", "true")):
            with self.subTest(arguments):
                self.refused("(ulimit -n", self.few, "-q", *arguments)
        self.refused("(ulimit -n)", {resource.RLIMIT_NOFILE: 4}, "capture", "set", "-o",
                     "a.fileset")

    def test_few_are_enough_for_what_needs_few(self):
        out, lines = self.works({resource.RLIMIT_NOFILE: 40}, "run", "iso", "--scale", "0.001",
                                "--near", "near", "--runs", "1")
        self.assertIn("iso", out, lines)

    def test_many_threads_share_what_there_is(self):
        program = ("import threading, os\n"
                   "barrier = threading.Barrier(200)\n"
                   "def work(i):\n"
                   "    barrier.wait()\n"
                   "    os.makedirs(f'd{i}/e')\n"
                   "    open(f'd{i}/e/f', 'w').write('x')\n"
                   "    barrier.wait()\n"
                   "threading.stack_size(256 << 10)\n"
                   "all = [threading.Thread(target=work, args=(i,)) for i in range(200)]\n"
                   "[one.start() for one in all]\n[one.join() for one in all]\n")
        (self.scratch / "many.py").write_text(program)
        self.works({}, "record", "-o", "many.reel", "--", "python3", "many.py")
        self.works({resource.RLIMIT_NOFILE: 2000}, "replay", "many.reel", "near", "--runs", "1")
        self.refused("(ulimit -n", {resource.RLIMIT_NOFILE: 500}, "-q", "replay", "many.reel",
                     "near", "--runs", "1")


class Memory(Limited):

    def test_recording_follows_the_limit_on_address_space(self):
        command = self.archive(20, 1000)
        for limit in (100, 200, 500):
            with self.subTest(limit):
                code, out, lines = self.limited({resource.RLIMIT_AS: limit << 20}, "record",
                                                "-o", "a.reel", "--", *command)
                self.assertEqual(code, 0, lines)
                self.assertNotIn("lost", out + "".join(lines))

    def test_a_limit_that_is_too_low_is_named(self):
        for which, option in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
            code, out, lines = self.limited({which: 48 << 20}, "-q", "record", "--backend", "bpf",
                                            "-o", "a.reel", "--", "true")
            if code != 0:  # the libraries differ in what they take
                self.assertEqual((code, len(lines)), (1, 1), lines)
                self.assertIn(f"(ulimit {option})", lines[0])
        self.assertEqual(self.limited({resource.RLIMIT_AS: 200 << 20}, "-q", "record", "--memory",
                                      "1GB", "-o", "a.reel", "--", "true")[::2],
                         (2, ["filereel: --memory 1GB is more than is permitted: the limit on "
                              "address space is 210 MB: raise it (ulimit -v), or give less"]))


class FileSize(Limited):

    def test_the_limit_is_named(self):
        small = {resource.RLIMIT_FSIZE: 5000}
        named = "the limit on file sizes is 5 kB: raise it (ulimit -f)"
        self.refused(named, small, "-q", "run", "iso", "--scale", "0.001", "--near", "near",
                     "--runs", "1")
        self.refused(named, small, "-q", "run", "iso", "--scale", "0.001", "--near", "image:i",
                     "--runs", "1")
        self.works({}, "populate", "small-files", "set", "--scale", "0.01")
        self.refused(named, small, "-q", "populate", "mp3", "other", "--scale", "0.001")


class Processes(Limited):

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_the_limit_is_named(self):
        def leave_root():
            os.setgroups([])
            os.setresgid(61234, 61234, 61234)
            os.setresuid(61234, 61234, 61234)
        os.chmod(self.scratch, 0o777)
        state = self.scratch / "state"
        state.mkdir()
        os.chown(state, 61234, 61234)
        self.addCleanup(subprocess.run, ["rm", "-rf", state])
        environment = self.environment
        self.environment = lambda: environment() | {"FILEREEL_STATE_DIR": str(state)}
        self.refused("(ulimit -u", {resource.RLIMIT_NPROC: 0}, "-q", "record", "--backend",
                     "strace", "-o", "a.reel", "--", "true", before=leave_root)


@contextlib.contextmanager
def memory_group(limit):
    """A control group with a limit on memory, within the one of this process."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            group, name = CGROUPS / "memory" / "filereel-test", "memory.limit_in_bytes"
        elif controllers == "" and (CGROUPS / "memory.max").exists():
            group, name = CGROUPS / "filereel-test", "memory.max"
        else:
            continue
        try:
            group = group.with_name(f"{group.name}-{os.getpid()}")
            group.mkdir()
        except OSError:
            break
        try:
            (group / name).write_text(str(limit))
            yield group
        finally:
            group.rmdir()
        return
    raise unittest.SkipTest("needs a control group for memory that can be made")


class ControlGroup(Limited):

    memory = 0  # files in memory would be charged to the group

    def test_recording_stays_within_the_memory_of_the_group(self):
        command = self.archive(30, 5_000_000)
        with memory_group(100_000_000) as group:
            out, lines = self.works(
                {}, "record", "-o", "a.reel", "--", *command,
                before=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
            self.assertIn("a.reel: ", "".join(lines))
            self.assertNotIn("lost", out + "".join(lines))
            if records_with_bpf():
                self.assertIn("with BPF", "".join(lines))

    def test_threads_that_need_too_much_memory_are_refused(self):
        program = ("import threading\n"
                   "barrier = threading.Barrier(400)\n"
                   "def work(i):\n"
                   "    open(f'f{i}', 'w').write('x')\n"
                   "    barrier.wait()\n"
                   "threading.stack_size(256 << 10)\n"
                   "all = [threading.Thread(target=work, args=(i,)) for i in range(400)]\n"
                   "[one.start() for one in all]\n[one.join() for one in all]\n")
        (self.scratch / "many.py").write_text(program)
        self.works({}, "record", "-o", "many.reel", "--", "python3", "many.py")
        with memory_group(100_000_000) as group:
            self.refused(" threads need about ", {}, "-q",
                         "replay", "many.reel", "near", "--runs", "1",
                         before=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))

    def test_a_limit_that_is_too_low_is_named(self):
        with memory_group(40_000_000) as group:
            code, out, lines = self.limited(
                {}, "-q", "record", "--backend", "bpf", "-o", "a.reel", "--", "true",
                before=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
            self.assertEqual((code, len(lines)), (1, 1), (out, lines))
            self.assertIn("the memory limit of the control group is 40 MB: raise /sys/", lines[0])


if __name__ == "__main__":
    main()
