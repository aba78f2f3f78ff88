"""System calls that the seccomp policy of a container denies: each command works as usual, or names the
call and the policy in one line. docs/platforms.md has the table."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import denied_calls
from support import FILEREEL, IntegrationTest, have, in_chroot, main, thorough, why_not

ERRORS = ["EPERM", "ENOSYS"]
# Denying one of these ends every program before it begins: the loader and the C library need it.
FATAL = ["pread64", "newfstatat"]
# What newer libraries need: glibc 2.41 in its loader, libbpf 1.5 for programs.
NEWER = {"fstat": "error while loading shared libraries", "memfd_create": "record"}
# What always runs: the calls of the newest kernels, and those that policies of containers deny.
OFTEN = ["openat2", "statx", "getrandom", "renameat2", "clone3", "io_uring_setup", "mount"]
LISTED = ["openat2", "clone3", "renameat2", "io_uring_setup", "mount"]  # by doctor
SMALL = ["--set", "mp3", "--scale", "0.001", "--runs", "1"]
# Causes that a denied call does not have.
WRONG = re.compile(r"kernel log|unmounted|replaced|needs Linux|is not installed|no free|ulimit|free some "
                   r"space|Stale|renamed|/proc is not|SYS_PTRACE|by hand|needs root|terminate called")
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/platforms.md"


def documented():
    """By call, what the table of the document says."""
    section = DOCUMENT.read_text().split("## Containers and sandboxes", 1)[1].split("\n## ", 1)[0]
    return {call: row.split("|")[2].strip() for row in re.findall(r"^\| `.*", section, re.MULTILINE)
            for call in re.findall(r"`(\w+)`", row.split("|")[1])}


@unittest.skipUnless(denied_calls.CALLS, "needs the numbers of this processor's system calls")
class DeniedCalls(IntegrationTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reel, cls.result = f"{cls.base}/a.reel", f"{cls.base}/r.json"

    def commands(self):
        """By name. The reel and the result were made without a policy."""
        if not os.path.exists(self.result):
            self.filereel("record", "-o", self.reel, "--", "cp", "/etc/passwd", "x")
            self.filereel("run", "--near", "made", *SMALL, "--json", self.result)
        named = {
            "doctor": ["doctor"],
            "run": ["run", "--near", "n", "--far", "f", *SMALL, "--json", "r.json"],
            "workload": ["run", "random-read", "--near", "w", "--runs", "1", "--time", "50ms",
                         "--scale", "0.001"],
            "replay": ["replay", self.reel, "v"],
            "populate": ["populate", "mp3", "p", "--scale", "0.001"],
            "capture": ["capture", self.scratch / "tree", "-o", "c.fileset"],
            "report": ["report", self.result, "-o", "r.html"],
            "compare": ["compare", self.result, self.result],
            "history": ["history", "h", "add", self.result],
            "record": ["record", "-o", "b.reel", "--", "true"],
        }
        if have("strace"):
            named["strace"] = ["record", "--backend", "strace", "-o", "s.reel", "--", "true"]
        if not why_not("ext4"):
            named["image"] = ["run", "--near", "image:a.img,size=40M", "--fs", "ext4", *SMALL,
                              "--operations", "create,read"]
        return named

    def run_denied(self, call, error, command, folder):
        folder.mkdir(parents=True)
        environment = {**os.environ, "FILEREEL_STATE_DIR": str(folder / "state")}
        done = subprocess.run([FILEREEL, *map(str, command)], cwd=folder, env=environment, text=True,
                              errors="replace", capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, preexec_fn=denied_calls.denier(call, error))
        shutil.rmtree(folder, ignore_errors=True)  # all cases together would fill the volume
        return done

    def check(self, calls, names=None):
        (self.scratch / "tree").mkdir()
        (self.scratch / "tree/file").write_text("text")
        refused = {call: set() for call in calls}
        cases = [(call, error, name, command) for name, command in self.commands().items()
                 for call in calls for error in ERRORS if names is None or name in names]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            outcomes = workers.map(lambda one: self.run_denied(
                one[0], one[1], one[3], self.scratch / "-".join(one[:3])), cases)
            for (call, error, name, _), done in zip(cases, outcomes):
                with self.subTest(f"{call} {error} {name}"):
                    if call == "fstat" and NEWER[call] in done.stderr:
                        self.skipTest("the loader of this system needs fstat")
                    if done.returncode != 0:
                        refused[call].add(name)
                    self.check_outcome(call, error, name, done)
        return refused

    def check_outcome(self, call, error, name, done):
        self.assertIn(done.returncode, (0, 1, 3), done)
        last = (done.stderr.splitlines() or [""])[-1]
        self.assertNotRegex(last, WRONG)
        if done.returncode != 0:
            self.assertEqual(done.stderr.count("filereel: "), 1, done.stderr)
            self.assertIn("a policy denies", last)
            self.assertRegex(last, rf"\b{call}\b")
        elif name == "doctor" and call in LISTED and (call, error) != ("clone3", "ENOSYS"):
            self.assertRegex(done.stdout, rf"system calls +denied by a policy: .*{call} \({error}\)")

    def test_calls_of_new_kernels_and_those_that_containers_deny(self):
        refused = self.check(OFTEN, ("doctor", "run", "replay", "populate", "capture", "image"))
        for call in ("statx", "getrandom", "renameat2", "io_uring_setup"):
            self.assertEqual(refused[call], set(), call)
        self.assertLessEqual({"run", "replay", "populate", "capture"}, refused["openat2"])

    @thorough("denies each call")
    def test_every_call(self):
        calls = [call for call in denied_calls.CALLS if call not in FATAL]
        for call, which in self.check(calls).items():
            with self.subTest(call):
                self.assertIn(call, documented())
                outcome = documented()[call]
                if not outcome.startswith("differences"):  # depends on what cp calls
                    self.assertEqual(outcome.startswith("as usual"), not which - {NEWER.get(call)},
                                     which)

    def test_the_document_lists_every_call(self):
        self.assertEqual(set(documented()), set(denied_calls.CALLS) | set(FATAL))


@unittest.skipUnless(os.geteuid() == 0, "needs root")
@unittest.skipIf(in_chroot(), "needs a mount namespace of its own")
class WithoutProc(IntegrationTest):

    def run_without(self, what, *command):
        """/dev/fd is a link into /proc, but some containers lack it."""
        hide = {"proc": "mount -t tmpfs none /proc", "fd": "mount -t tmpfs none /dev && "
                "mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9"}[what]
        environment = {**os.environ, "FILEREEL_STATE_DIR": str(self.state)}
        return subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c",
                               f'{hide} && exec "$@"', "sh", FILEREEL, *map(str, command)],
                              cwd=self.scratch, env=environment, text=True, capture_output=True,
                              timeout=60, stdin=subprocess.DEVNULL)

    def test_commands_that_need_proc_name_it(self):
        self.filereel("record", "-o", "a.reel", "--", "true")
        for command in (["run", "--near", "n", *SMALL], ["replay", "a.reel", "v"],
                        ["populate", "mp3", "p"], ["record", "-o", "b.reel", "--", "true"],
                        ["record", "--backend", "strace", "-o", "b.reel", "--", "true"],
                        ["record", "--pid", "1", "-o", "b.reel"]):
            with self.subTest(command[0]):
                done = self.run_without("proc", *command)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("/proc", done.stderr)
                self.assertIn("mount -t proc proc /proc", done.stderr)
                self.assertEqual(done.stderr.count("filereel: "), 1, done.stderr)
        self.assertRegex(self.run_without("proc", "doctor").stdout, r"/proc +missing")

    @unittest.skipUnless(have("strace"), "needs strace")
    def test_recording_needs_no_dev_fd(self):
        for backend in ("auto", "strace"):
            with self.subTest(backend):
                done = self.run_without("fd", "record", "--backend", backend, "-o", f"{backend}.reel",
                                        "--", "true")
                self.assertEqual(done.returncode, 0, done)


if __name__ == "__main__":
    main()
